"""A certificate for 127.0.0.1 that nobody but the test trusts, and a port for the server that has it."""
import os
import shutil
import socket
import subprocess


def make(folder):
    """Returns the names of the certificate and its key, which is for its owner only; without openssl None."""
    cert, key = f'{folder}/here.cert', f'{folder}/here.key'
    if not shutil.which('openssl'):
        print('without openssl: TLS is left out')
        return None
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=here',
                    '-addext', 'subjectAltName=IP:127.0.0.1'], capture_output=True, check=True)
    os.chmod(key, 0o600)
    return cert, key


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as listening:
        return listening.getsockname()[1]

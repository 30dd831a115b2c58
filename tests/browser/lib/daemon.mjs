// A real samovard on a free port with a state directory of its own.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const startMs = 60_000;

// A port nobody has now. A box keeps its mesh port over restarts, as the others remember it.
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

export class Daemon {
  #binary;
  #process = null;
  #output = '';
  url = '';
  phase = '';
  setupCode = '';
  meshPort = 0;

  // Boxes with the same discovery port hear each other.
  constructor(binary, discoveryPort) {
    this.#binary = binary;
    this.discoveryPort = discoveryPort;
    this.stateDir = mkdtempSync(join(tmpdir(), 'samovar-browser-'));
  }

  // Resolves once it serves. The set-up code is read from the console, as a person would.
  async start() {
    this.#output = '';
    // A restarted box keeps its address: pages that are open find it again.
    const port = this.url ? new URL(this.url).port : '0';
    this.meshPort ||= await freePort();
    const network = ['--mesh-listen', `127.0.0.1:${this.meshPort}`, '--discovery-port', String(this.discoveryPort), '--discovery-loopback'];
    const args = ['--state-dir', join(this.stateDir, 'state'), '--listen', `127.0.0.1:${port}`, '--log-format', 'text', ...network];
    this.#process = spawn(this.#binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const child = this.#process;
    child.stderr.on('data', (data) => (this.#output += data));
    await new Promise((resolve, reject) => {
      const fail = (why) => reject(new Error(`samovard ${why}\n${this.#output}`));
      const timer = setTimeout(() => fail('did not get ready in time'), startMs);
      child.once('error', (error) => fail(`cannot be started: ${error.message}`));
      child.once('exit', (code) => fail(`ended with ${code}`));
      child.stdout.on('data', (data) => {
        this.#output += data;
        const ready = /^READY (\S+) phase=(\S+)$/m.exec(this.#output);
        if (!ready) return;
        clearTimeout(timer);
        [, this.url, this.phase] = ready;
        this.setupCode = /Set-up code:\s+(\S+)/.exec(this.#output)?.[1] ?? '';
        resolve();
      });
    });
  }

  async stop(signal = 'SIGTERM') {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(timer);
  }

  async restart() {
    await this.stop();
    await this.start();
  }

  // As if the power had gone for a moment.
  async crash() {
    await this.stop('SIGKILL');
    await this.start();
  }

  // Holds the process still, as a box that hangs would.
  freeze() {
    this.#process.kill('SIGSTOP');
  }
  thaw() {
    this.#process.kill('SIGCONT');
  }

  get binary() {
    return this.#binary;
  }
  get output() {
    return this.#output;
  }

  async dispose() {
    await this.stop();
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}

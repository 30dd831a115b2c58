// The line between browser and box: slow when asked to be, and cut in the middle of what it carries.
import { connect, createServer } from 'node:net';

export class Line {
  #server;
  #sockets = new Set();
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  #up = true;
  url = '';

  // `box` tells the box's present address.
  static async open(box) {
    const line = new Line();
    line.#server = createServer((near) => line.#carry(near, new URL(box())));
    await new Promise((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    line.url = `https://127.0.0.1:${line.#server.address().port}`;
    return line;
  }

  slow(bytesPerSecond) {
    this.#bytesPerSecond = bytesPerSecond;
  }
  full() {
    this.#bytesPerSecond = Number.POSITIVE_INFINITY;
  }
  cut() {
    this.#up = false;
    for (const socket of this.#sockets) socket.destroy();
  }
  mend() {
    this.#up = true;
  }
  close() {
    this.cut();
    this.#server.close();
  }

  #carry(near, box) {
    if (!this.#up) {
      near.destroy();
      return;
    }
    const far = connect(Number(box.port), box.hostname);
    for (const [one, other] of [[near, far], [far, near]]) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    far.pipe(near);
    near.on('data', (data) => {
      const room = far.write(data);
      const wait = (data.length * 1000) / this.#bytesPerSecond;
      if (room && wait < 1) return;
      near.pause();
      if (room) setTimeout(() => near.resume(), wait);
      else far.once('drain', () => setTimeout(() => near.resume(), wait));
    });
    near.on('end', () => far.end());
  }
}

// Web Locks in one process: exclusive locks with a queue, abort and steal, as the specification says.
interface Waiter {
  run: () => void;
  signal?: AbortSignal;
}

export class FakeLocks {
  #held: { lose: () => void } | null = null;
  #queue: Waiter[] = [];

  request(_name: string, options: { signal?: AbortSignal; steal?: boolean }, work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(new DOMException('aborted', 'AbortError'));
      const run = (): void => {
        const mine = { lose: abort };
        this.#held = mine;
        void work().then(() => {
          if (this.#held === mine) {
            this.#held = null;
            this.#next();
          }
          resolve();
        });
      };
      if (options.steal) {
        this.#held?.lose();
        run();
        return;
      }
      const waiter: Waiter = { run, signal: options.signal };
      this.#queue.push(waiter);
      options.signal?.addEventListener('abort', () => {
        if (this.#queue.includes(waiter)) {
          this.#queue = this.#queue.filter((one) => one !== waiter);
          abort();
        }
      });
      queueMicrotask(() => this.#next());
    });
  }

  #next(): void {
    if (!this.#held) this.#queue.shift()?.run();
  }
}

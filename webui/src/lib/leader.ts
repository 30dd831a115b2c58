// One tab of this browser leads: it holds a Web Lock and owns the event stream; the others listen to it over a
// BroadcastChannel. The browser passes the lock on when the leader closes, so there is always exactly one.
//
// A leader that was frozen in the background keeps its lock but says nothing; a visible follower may then steal it.

export interface Leadership {
  lead: (signal: AbortSignal) => void; // the signal aborts when the lead is lost
  follow: () => void;
}

export class Leader {
  #name: string;
  #roles: Leadership;
  #stop = new AbortController();
  #reign: AbortController | null = null;

  constructor(name: string, roles: Leadership) {
    this.#name = name;
    this.#roles = roles;
  }

  get leading(): boolean {
    return this.#reign !== null;
  }

  start(): void {
    if (!navigator.locks) {
      // Without locks each tab has its own stream: still right, only not thrifty.
      this.#begin();
      return;
    }
    this.#roles.follow();
    this.#wait({ signal: this.#stop.signal });
  }

  steal(): void {
    if (!navigator.locks || this.#stop.signal.aborted || this.#reign) return;
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#wait({ steal: true });
  }

  stop(): void {
    this.#stop.abort();
    this.#end();
  }

  #wait(options: LockOptions): void {
    const stop = this.#stop.signal;
    navigator.locks
      .request(this.#name, options, () => {
        if (stop.aborted) return Promise.resolve();
        this.#begin();
        return new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
      })
      .catch(() => {
        // Aborted by stop(), or stolen by another tab: in the second case wait in line again.
        if (stop.aborted) return;
        this.#end();
        this.#roles.follow();
        this.#wait({ signal: stop });
      });
  }

  #begin(): void {
    this.#reign = new AbortController();
    this.#roles.lead(this.#reign.signal);
  }

  #end(): void {
    this.#reign?.abort();
    this.#reign = null;
  }
}

// An XMLHttpRequest that goes nowhere: the test answers it.
import { vi } from 'vitest';

type Listener = (event: { loaded: number }) => void;

export class FakeRequest {
  method = '';
  address = '';
  headers: Record<string, string> = {};
  body: unknown = null;
  status = 0;
  responseText = '';
  aborted = false;
  upload = { addEventListener: (_: string, listener: Listener) => void (this.#move = listener) };
  #move: Listener = () => undefined;
  #listeners: Record<string, () => void> = {};
  #answered: Record<string, string> = {};

  // Every request made from now on, in order.
  static record(): FakeRequest[] {
    const made: FakeRequest[] = [];
    vi.stubGlobal(
      'XMLHttpRequest',
      class extends FakeRequest {
        constructor() {
          super();
          made.push(this);
        }
      },
    );
    return made;
  }

  open(method: string, address: string): void {
    Object.assign(this, { method, address });
  }
  setRequestHeader(name: string, value: string): void {
    this.headers[name] = value;
  }
  addEventListener(kind: string, listener: () => void): void {
    this.#listeners[kind] = listener;
  }
  getResponseHeader(name: string): string | null {
    return this.#answered[name] ?? null;
  }
  send(body: unknown = null): void {
    this.body = body;
  }
  abort(): void {
    this.aborted = true;
  }

  move(loaded: number): void {
    this.#move({ loaded });
  }
  answer(status: number, headers: Record<string, string>, body = ''): void {
    Object.assign(this, { status, responseText: body });
    this.#answered = headers;
    this.#listeners.load?.();
  }
  fail(): void {
    this.#listeners.error?.();
  }
}

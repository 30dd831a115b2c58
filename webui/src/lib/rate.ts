// How fast something goes and how long it will take, from what was done when. Steady enough to read: the mean of the
// last ten seconds, and no guess before two.

const windowMs = 10_000;
const leastMs = 2000;

export class Rate {
  #points: { at: number; done: number }[] = [];

  add(done: number, at: number): void {
    const last = this.#points.at(-1);
    // After a retry the count goes back; what was before says nothing about the line now.
    if (last && done < last.done) this.#points = [];
    this.#points.push({ at, done });
    while (this.#points.length > 2 && at - this.#points[1]!.at >= windowMs) this.#points.shift();
  }

  // Bytes per second; null while it cannot be known.
  perSecond(): number | null {
    const first = this.#points[0];
    const last = this.#points.at(-1);
    if (!first || !last || last.at - first.at < leastMs) return null;
    return ((last.done - first.done) * 1000) / (last.at - first.at);
  }
}

export function secondsLeft(done: number, total: number, perSecond: number | null): number | null {
  return perSecond && perSecond > 0 ? Math.max(0, (total - done) / perSecond) : null;
}

// The newest box that was not in the list before. The first list is nobody's news.
import type { Peer } from '../../lib/types-cluster';

export function freshIn(known: ReadonlySet<string> | null, peers: readonly Peer[]): Peer | null {
  if (!known) return null;
  return peers.findLast((peer) => !known.has(peer.id) && peer.state === 'waiting') ?? null;
}

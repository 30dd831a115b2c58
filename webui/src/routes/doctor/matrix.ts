// Links as a square: who sees whom. A pair nobody told about stays empty.
import type { BoxNode } from '../../lib/types';
import type { Link } from '../../lib/types-cluster';

export interface MatrixRow {
  node: BoxNode;
  to: ReadonlyMap<string, Link>;
}

export function matrix(nodes: readonly BoxNode[], links: readonly Link[]): MatrixRow[] {
  return nodes
    .filter((node) => node.state !== 'removed')
    .map((node) => ({ node, to: new Map(links.filter((link) => link.from === node.id).map((link) => [link.to, link])) }));
}

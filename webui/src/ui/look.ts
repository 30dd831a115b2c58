// How the n-th line of a chart looks. Four colours times four dash patterns: sixteen lines before two are alike.
export function lookOf(index: number): { colour: number; dash: number } {
  return { colour: index % 4, dash: (index + Math.floor(index / 4)) % 4 };
}

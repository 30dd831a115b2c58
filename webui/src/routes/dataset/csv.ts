// Just enough CSV (RFC 4180) to show the first rows of what the box wrote.

export function parseCsv(text: string, rowsMax: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let quoted = false;
  for (let i = 0; i < text.length && rows.length < rowsMax; i += 1) {
    const sign = text[i]!;
    if (quoted) {
      if (sign !== '"') cell += sign;
      else if (text[i + 1] === '"') {
        cell += '"';
        i += 1;
      } else quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === ',') {
      row.push(cell);
      cell = '';
    } else if (sign === '\n') {
      rows.push([...row, cell]);
      row = [];
      cell = '';
    } else if (sign !== '\r') cell += sign;
  }
  // A last line without an end, unless the text was cut by us.
  if (rows.length < rowsMax && (cell !== '' || row.length > 0)) rows.push([...row, cell]);
  return rows;
}

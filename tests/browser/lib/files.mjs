// Files for the pages: made in the test, dropped like a person drops them, the same bytes each time.

// A believable table of `rows` stays, `columns` wide enough to be told apart. Deterministic.
export function stays(rows) {
  const wards = ['cardiology', 'surgery', 'geriatrics', 'neurology'];
  const lines = ['stay;email;age;ward;creatinine;admitted;readmitted'];
  let seed = 7;
  const next = (limit) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % limit;
  };
  for (let row = 0; row < rows; row += 1) {
    const age = 18 + next(75);
    const day = String(1 + next(28)).padStart(2, '0');
    const creatinine = row % 11 === 3 ? '' : `${next(3)},${String(next(100)).padStart(2, '0')}`;
    lines.push(`${100000 + row};p${next(100000)}@example.org;${age};${wards[next(4)]};${creatinine};2025-03-${day};${age > 60 ? 'yes' : 'no'}`);
  }
  return `${lines.join('\n')}\n`;
}

// Drops files on the page. `repeat` makes a large one of a small text without sending it through the debugger.
export async function drop(page, files) {
  // A page that takes drops says so to what hangs over it; before that a drop would fall through.
  await page.waitForFunction(() => {
    const carried = new DataTransfer();
    carried.items.add(new File([''], 'probe'));
    return !document.body.dispatchEvent(new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer: carried }));
  });
  await page.evaluate((list) => {
    const carried = new DataTransfer();
    for (const { name, text, repeat = 1 } of list) {
      const head = text.slice(0, text.indexOf('\n') + 1);
      const rest = new Blob([text.slice(head.length)]);
      // A fixed date of change: the same file is known again after a reload.
      carried.items.add(new File([head, ...Array.from({ length: repeat }, () => rest)], name, { type: 'text/csv', lastModified: 1_750_000_000_000 }));
    }
    for (const kind of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: carried }));
  }, files);
}

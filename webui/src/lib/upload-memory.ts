// Which upload a file was begun with. Only names, sizes and dates of files, never what is in them; forgotten after the
// seven days the box keeps an unfinished upload.
interface Memory {
  file: string;
  id: string;
  at: number;
}

const place = 'samovar.uploads';
const keepMs = 7 * 86_400_000;

const fingerprint = (file: File): string => `${file.size}:${file.lastModified}:${file.name}`;

function load(): Memory[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    if (!Array.isArray(stored)) return [];
    return (stored as Partial<Memory>[]).filter((one): one is Memory => typeof one.file === 'string' && typeof one.id === 'string' && Date.now() - (one.at ?? 0) < keepMs);
  } catch {
    return [];
  }
}
function save(list: Memory[]): void {
  try {
    localStorage.setItem(place, JSON.stringify(list.slice(-100)));
  } catch {
    // Storage switched off: the person can still choose the file again by hand.
  }
}

export const knownUpload = (file: File): string | undefined => load().findLast((one) => one.file === fingerprint(file))?.id;
export function rememberFile(file: File, id: string): void {
  save([...load().filter((one) => one.file !== fingerprint(file)), { file: fingerprint(file), id, at: Date.now() }]);
}
export function forgetFile(file: File): void {
  save(load().filter((one) => one.file !== fingerprint(file)));
}

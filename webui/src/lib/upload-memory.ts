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

// Which operation makes a data set of an upload: the box lists both, not which belongs to which.
const usePlace = 'samovar.uploads.used';
export function knownUse(upload: string): string {
  try {
    return (JSON.parse(localStorage.getItem(usePlace) ?? '{}') as Record<string, string>)[upload] ?? '';
  } catch {
    return '';
  }
}
export function rememberUse(upload: string, operation: string): void {
  try {
    const stored = Object.entries(JSON.parse(localStorage.getItem(usePlace) ?? '{}') as Record<string, string>);
    const next = [...stored.filter(([key]) => key !== upload).slice(-50), [upload, operation]];
    localStorage.setItem(usePlace, JSON.stringify(Object.fromEntries(next)));
  } catch {
    // Then the card of the upload shows beside its operation until that is done.
  }
}

export const knownUpload = (file: File): string | undefined => load().findLast((one) => one.file === fingerprint(file))?.id;
export function rememberFile(file: File, id: string): void {
  save([...load().filter((one) => one.file !== fingerprint(file)), { file: fingerprint(file), id, at: Date.now() }]);
}
export function forgetFile(file: File): void {
  save(load().filter((one) => one.file !== fingerprint(file)));
}

// Names made from files, and files told apart.

const endings = /\.(csv|tsv|tab|txt|arff|jsonl|ndjson|json|svm|libsvm|svmlight|dat|data|gz|gzip|zst|zstd|xz|zip)$/i;

// "ward_4-readmissions.csv.gz" → "ward 4-readmissions"
export function nameFromFile(file: string): string {
  let name = file;
  while (endings.test(name)) name = name.replace(endings, '');
  name = name.replaceAll('_', ' ').replace(/\s+/g, ' ').trim();
  return (name || file).slice(0, 120);
}

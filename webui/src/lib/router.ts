// Addresses. The path names the page, the query its filters and ranges, so a link shows what its sender saw.
import { place } from './stores';

function read(): void {
  place.value = { path: location.pathname, query: new URLSearchParams(location.search) };
}

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const next = new URL(to, location.origin);
  if (next.origin !== location.origin) return;
  const method = options.replace ? 'replaceState' : 'pushState';
  history[method](null, '', next.pathname + next.search);
  read();
}

// Changes only some of the query; an empty value removes its name.
export function setQuery(change: Record<string, string | undefined>, options = { replace: true }): void {
  const query = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(change)) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  const text = query.toString();
  navigate(location.pathname + (text ? `?${text}` : ''), options);
}

// Only a path of our own: a link must not send somebody elsewhere after log-in.
export function safeNext(next: string | null): string {
  return next && /^\/(?![/\\])/.test(next) ? next : '/';
}

function onClick(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.('a[href]') as HTMLAnchorElement | null;
  if (!link || link.origin !== location.origin || link.hasAttribute('download') || link.target) return;
  if (link.pathname.startsWith('/api/') || link.hash) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}

export function startRouter(): void {
  addEventListener('popstate', read);
  document.addEventListener('click', onClick);
  read();
}

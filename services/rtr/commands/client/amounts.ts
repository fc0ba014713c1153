const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a text such as `1,234`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** Returns a text such as `512 MiB`, in powers of 1,024. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const amount = bytes / 1024 ** power;
  return `${amount.toLocaleString('en', { maximumFractionDigits: amount < 10 ? 1 : 0 })} ${units[power] ?? ''}`;
}

/** Returns a text such as `40 s`, `5 min`, `2 h 10 min`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${Math.ceil(ms / 1_000)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a time from an API, in seconds since 1970, as `2026-11-24 16:05` (UTC). Returns a dash for null and undefined. */
export function formatTime(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '-';
  return new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ');
}

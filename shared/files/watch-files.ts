import { Counter, Gauge, type Registry } from 'prom-client';
import { uploadOutcomes, type Files } from './files.ts';

/** Registers the metrics of files. Their values are read on each scrape. */
export function registerFileMetrics(
  registry: Registry,
  files: Pick<Files, 'uploads' | 'storedBytes' | 'totalBytes'>,
): void {
  const registers = [registry];
  const uploads: Counter<'outcome'> = new Counter({
    name: 'rtr_file_uploads_total',
    help: 'Files that this process was given: stored, refused (too large, or no room), or failed (a part or the sender went away)',
    labelNames: ['outcome'],
    registers,
    collect: () => {
      uploads.reset();
      for (const outcome of uploadOutcomes) uploads.inc({ outcome }, files.uploads[outcome]);
    },
  });
  const bytes: Counter = new Counter({
    name: 'rtr_file_uploaded_bytes_total',
    help: 'Bytes of the files that this process has stored',
    registers,
    collect: () => {
      bytes.reset();
      bytes.inc(files.storedBytes);
    },
  });
  const total: Gauge = new Gauge({
    name: 'rtr_files_bytes',
    help: 'Bytes of all files and uploads of the cluster; absent while Redis is away',
    registers,
    collect: async () => {
      const totalBytes = await files.totalBytes().catch(() => undefined);
      if (totalBytes === undefined) total.remove();
      else total.set(totalBytes);
    },
  });
}

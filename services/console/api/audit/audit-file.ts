import { toCsvLine, type CsvCell } from '#shared/core/csv.ts';
import type { AuditEntry } from '../../contract/audit.ts';
import { jsonFile, type ExportFile } from '../export-records.ts';

const columns: Record<string, (entry: AuditEntry) => CsvCell> = {
  id: ({ id }) => id,
  at: ({ at }) => new Date(at).toISOString(),
  actor_id: ({ actor }) => actor?.id,
  actor_name: ({ actor }) => actor?.name,
  action: ({ action }) => action,
  target_kind: ({ target }) => target?.kind,
  target_id: ({ target }) => target?.id,
  target_name: ({ target }) => target?.name,
  address: ({ from }) => from?.address,
  session: ({ from }) => from?.session,
  token: ({ from }) => from?.token?.name,
  command_line: ({ from }) => from?.commandLine,
  count: ({ count }) => count,
  details: ({ details }) => JSON.stringify(details),
};

export const auditFile: Record<'csv' | 'json', ExportFile<AuditEntry>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    name: 'audit.csv',
    head: toCsvLine(Object.keys(columns)),
    toText: (entry) => toCsvLine(Object.values(columns).map((cell) => cell(entry))),
    tail: '',
  },
  json: jsonFile('audit.json'),
};

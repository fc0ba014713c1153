import { usageCsvHead, toUsageCsvLine } from '#shared/accounts/ledger/usage-csv.ts';
import type { UsageRequest } from '../../contract/usage.ts';
import { jsonFile, type ExportFile } from '../export-records.ts';

export const usageFile: Record<'csv' | 'json', ExportFile<UsageRequest>> = {
  csv: {
    type: 'text/csv; charset=utf-8',
    name: 'usage.csv',
    head: usageCsvHead,
    toText: (request) => toUsageCsvLine(request),
    tail: '',
  },
  json: jsonFile('usage.json'),
};

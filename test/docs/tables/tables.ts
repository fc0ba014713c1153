import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorTable, RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { webhookEventTypes } from '#shared/accounts/webhooks/webhook-event.ts';
import { faultKinds } from '../../chaos/faults/fault-kinds.ts';
import { keptResults as keptPeerResults } from '../../bench/peers/results/peer-results.ts';
import { keptScaleRuns } from '../../bench/scale/scale-results.ts';
import { keptResults } from '../../clients/results.ts';
import { joinSteps, keptJoinTimes, type JoinStep } from '../../helpers/deploy/join-times.ts';
import { mayImport } from '../../may-import.ts';
import { providerRows } from './render-providers.ts';
import { definedMetrics, type MeasuredPart } from '../../helpers/cluster/metric-registries.ts';
import { renderAdminCommands } from './render-admin-commands.ts';
import { renderCells, renderRatios, renderRun, renderShortPerformance, renderSystems } from './render-performance.ts';
import { renderBeforeAfter, renderScaleRun, renderScaleRuns } from './render-scale.ts';
import { settingTables } from './render-settings.ts';
import { renderTable } from './render-table.ts';
import { renderRequestPath } from './request-path.ts';

/** Every table of the documentation, by the name in its marker, made from what the code really does. */
export const tables: Record<string, () => string> = {
  errors: renderErrors,
  'request-path': renderRequestPath,
  'file-index': renderFileIndex,
  ...settingTables,
  'admin-commands': renderAdminCommands,
  providers: () => renderTable(['provider', 'turned on by', 'speaks', 'a chat request goes to it'], providerRows()),
  'metrics:batch-runner': () => renderMetrics('batch-runner'),
  'metrics:ingress': () => renderMetrics('ingress'),
  'metrics:worker': () => renderMetrics('worker'),
  'webhook-events': renderWebhookEvents,
  imports: renderImports,
  faults: renderFaults,
  clients: renderClients,
  'join-times': renderJoinTimes,
  performance: () => renderShortPerformance(keptPeerResults()),
  'performance:run': () => renderRun(keptPeerResults()),
  'performance:ratios': () => renderRatios(keptPeerResults()),
  'performance:systems': () => renderSystems(keptPeerResults()),
  'performance:cells': () => renderCells(keptPeerResults()),
  'scale:runs': () => renderScaleRuns(keptScaleRuns()),
  'scale:10x100': () => renderBeforeAfter(keptScaleRuns(), '10x100'),
  'scale:50x500': () => renderBeforeAfter(keptScaleRuns(), '50x500'),
  'scale:50x2000': () => renderBeforeAfter(keptScaleRuns(), '50x2000'),
  'scale:cluster': () => renderScaleRun(keptScaleRuns(), 'cluster'),
  'scale:queued': () => renderScaleRun(keptScaleRuns(), 'queued'),
};

/** The page with every table between `<!-- table NAME -->` and `<!-- /table -->` made anew. */
export function withTables(page: string): string {
  return page.replaceAll(/(?<=<!-- table (\S+) -->\n)[\s\S]*?(?=<!-- \/table -->)/g, (_, name: string) => {
    const render = tables[name];
    if (!render) throw new Error(`the documentation asks for an unknown table: ${name}`);
    return `\n${render().trimEnd()}\n\n`;
  });
}

/** Status, type and code of every error, as the client formats write it; those that write it alike share a column. */
function renderErrors(): string {
  const codes = Object.keys(errorTable) as ErrorCode[];
  const cellsOf = ({ errorAnswer }: ClientFormat): string[] =>
    codes.map((code) => {
      const { status, body } = errorAnswer(new RouterError(code, ''), '');
      const { error } = body as { error: { type: string; code?: string | null } };
      const own = typeof error.code === 'string' ? ` \`${error.code}\`` : '';
      return `${status} \`${error.type}\`${own}`;
    });
  const columns = [...Map.groupBy(clientFormats, (format) => cellsOf(format).join('\n'))];
  const rows = codes.map((code, at) => [
    `\`${code}\``,
    ...columns.map(([cells]) => cells.split('\n')[at] ?? ''),
    errorTable[code].clientMayRetry ? 'yes' : 'no',
  ]);
  const heads = columns.map(([, formats]) => formats.map(({ name }) => name).join(', '));
  return renderTable(['error', ...heads, 'worth a retry'], rows);
}

/** All files of the product by folder, source and configuration: the index of docs/architecture.md. */
function renderFileIndex(): string {
  const deployed = ['deploy/**/*.{ts,mjs,sh,yml,yaml,cfg,conf,tpl,json,txt}', 'deploy/Dockerfile'];
  const files = globSync(['{shared,services}/**/*.{ts,tsx,mjs,lua,css,html,svg,json}', ...deployed]);
  const shown = files.filter((file) => !file.split('/').includes('dist')).toSorted();
  const namesOf = (found: string[]) => found.map((file) => basename(file).replace(/\.ts$/, '')).join(', ');
  const rows = Array.from(Map.groupBy(shown, dirname), ([folder, found]) => [`\`${folder}\``, namesOf(found)]);
  return renderTable(['folder', 'files'], rows);
}

function renderFaults(): string {
  const rows = Object.entries(faultKinds).map(([name, { made, seen }]) => [`\`${name}\``, made, seen]);
  return renderTable(['fault', 'made by', 'what clients see'], rows);
}

function renderWebhookEvents(): string {
  const rows = Object.entries(webhookEventTypes).map(([type, meaning]) => [`\`${type}\``, meaning]);
  return renderTable(['event', 'what it says'], rows);
}

function renderClients(): string {
  const rows = keptResults().map((kept) => [kept.client, kept.version, kept.format, kept.demo, kept.llamaServer]);
  return renderTable(['client', 'version', 'format', 'demo engine', 'llama-server'], rows);
}

function renderImports(): string {
  const names = (parts: readonly string[]): string => parts.map((part) => `\`${part}\``).join(', ');
  const rows = Object.entries(mayImport).map(([part, others]) => [names([part]), names(others) || '–']);
  return renderTable(['part', 'may import'], rows);
}

function renderMetrics(part: MeasuredPart): string {
  const metrics = definedMetrics(part).toSorted((a, b) => a.name.localeCompare(b.name));
  const rows = metrics.map(({ name, type, labelNames, help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(' ');
    return [`\`${name}\``, type, labels || '–', help];
  });
  return renderTable(['metric', 'kind', 'labels', 'meaning'], rows);
}

/** The steps of a first installation and of a box, with the seconds that a person waits. */
function renderJoinTimes(): string {
  const kept = keptJoinTimes();
  const steps = Object.entries(joinSteps) as [JoinStep, string][];
  return renderTable(
    ['step', 'seconds'],
    steps.map(([step, words]) => [words, String(kept[step] ?? 'not measured')]),
  );
}

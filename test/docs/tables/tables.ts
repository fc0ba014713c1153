import type { z } from 'zod';
import { errorTable, type ErrorCode } from '#shared/core/errors.ts';
import { chatErrors } from '#shared/formats/chat/error.ts';
import { messagesErrors } from '#shared/formats/messages/error.ts';
import { chatAnswerRules } from '#shared/translate/rules/chat-answer-rules.ts';
import { chatRequestRules } from '#shared/translate/rules/chat-request-rules.ts';
import { messagesAnswerRules } from '#shared/translate/rules/messages-answer-rules.ts';
import { messagesRequestRules } from '#shared/translate/rules/messages-request-rules.ts';
import { ingressConfig } from '#services/ingress/config.ts';
import { cliWorkerConfig } from '#services/cli-worker/config.ts';
import { cloudWorkerConfig } from '#services/cloud-worker/config.ts';
import { gpuWorkerConfig } from '#services/gpu-worker/config.ts';
import { toolsWorkerConfig } from '#services/tools-worker/config.ts';
import { upSettings } from '#services/rtr/config.ts';
import { providerRows } from './render-providers.ts';
import { metricRows } from './render-metrics.ts';
import { renderFieldRules } from './render-field-rules.ts';
import { demoEngineSettings } from '#services/demo-engine/config.ts';

/** Every table of the documentation, by the name in its marker, made from what the code really does. */
export const tables: Record<string, () => string> = {
  errors: renderErrors,
  'fields:chat-request': () => renderFieldRules(chatRequestRules, 'chat worker', 'messages worker'),
  'fields:chat-answer': () => renderFieldRules(chatAnswerRules, 'chat client', 'messages client'),
  'fields:messages-request': () => renderFieldRules(messagesRequestRules, 'messages worker', 'chat worker'),
  'fields:messages-answer': () => renderFieldRules(messagesAnswerRules, 'messages client', 'chat client'),
  'settings:ingress': () => renderSettings(ingressConfig),
  'settings:up': () => renderSettings(upSettings),
  'settings:gpu-worker': () => renderSettings(gpuWorkerConfig),
  'settings:cli-worker': () => renderSettings(cliWorkerConfig),
  'settings:cloud-worker': () => renderSettings(cloudWorkerConfig),
  providers: () => renderTable(['provider', 'turned on by', 'speaks', 'a chat request goes to it'], providerRows()),
  'settings:tools-worker': () => renderSettings(toolsWorkerConfig),
  'metrics:ingress': () => renderTable(metricHead, metricRows('ingress')),
  'metrics:worker': () => renderTable(metricHead, metricRows('worker')),
  'settings:demo-engine': () => renderSettings(demoEngineSettings),
};

const metricHead = ['metric', 'kind', 'labels', 'meaning'];

/** The page with every table between `<!-- table NAME -->` and `<!-- /table -->` made anew. */
export function withTables(page: string): string {
  return page.replaceAll(
    /(<!-- table (\S+) -->\n)[\s\S]*?(<!-- \/table -->)/g,
    (_, start: string, name: string, end: string) => {
      const render = tables[name];
      if (!render) throw new Error(`the documentation asks for an unknown table: ${name}`);
      return `${start}\n${render().trimEnd()}\n\n${end}`;
    },
  );
}

function renderErrors(): string {
  const rows = (Object.keys(errorTable) as ErrorCode[]).map((name) => {
    const { status, clientMayRetry } = errorTable[name];
    const [chat, messages] = [chatErrors[name], messagesErrors[name]];
    const messagesStatus = messages.status ?? status;
    const statuses = status === messagesStatus ? `${status}` : `${status} / ${messagesStatus}`;
    return [
      `\`${name}\``,
      statuses,
      `\`${chat.type}\``,
      chat.code === null ? '–' : `\`${chat.code}\``,
      `\`${messages.type}\``,
      clientMayRetry ? 'yes' : 'no',
    ];
  });
  return renderTable(
    ['error', 'status (chat / messages)', 'chat `type`', 'chat `code`', 'messages `type`', 'worth a retry'],
    rows,
  );
}

function renderSettings(schema: z.ZodObject): string {
  const rows = Object.entries(schema.shape).map(([name, field]) => {
    const fallback = JSON.stringify(field.safeParse(undefined).data)?.replaceAll('"', '') ?? '';
    return [`\`${name}\``, fallback === '' || fallback === '[]' ? '–' : `\`${fallback}\``, field.description ?? ''];
  });
  return renderTable(['variable', 'default', 'meaning'], rows);
}

function renderTable(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

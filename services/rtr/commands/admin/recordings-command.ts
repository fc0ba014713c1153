import { Command } from 'commander';
import { toTableLines } from '../table-lines.ts';
import { createWholeNumberParser } from '../whole-number.ts';
import { buildPath, type AdminClient, type Query } from './admin-client.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { findParty } from './find-party.ts';
import { formatMinute, printDone, printFacts, printList } from './print-answers.ts';
import { downloadFile } from './download-file.ts';

interface Switch {
  of: 'key' | 'team';
  id: string;
  name: string;
  by?: string;
  since: number;
  traced: boolean;
}

interface Recording {
  id: string;
  at: number;
  endedAt: number;
  endpoint: string;
  format: string;
  model?: string;
  key: { id: string; name: string };
  recordedBy: string;
  session?: string;
  status?: number;
  end: 'whole' | 'cut';
  requestBytes: number;
  answerBytes: number;
  isRequestCut: boolean;
  isAnswerCut: boolean;
  storedAs: string;
  expiresAt: number;
}

interface WholeRecording extends Recording {
  request: string;
  answer: string;
  answerEncoding: 'utf8' | 'base64';
}

interface FilterOptions extends AdminOptions {
  owner?: string;
  key?: string;
  session?: string;
}

type ListOptions = FilterOptions & { limit: number; request?: string };
type RecordingOptions = AdminOptions & { storedAs?: string };

const requestArgument = ['<request>', 'id of the request'] as const;

/** Creates `rtr recordings …`, which shows and deletes recorded prompts and answers. */
export function createRecordingsCommand(run: RunAdminCommand): Command {
  const command = new Command('recordings').description('see and delete recorded prompts and answers');
  addCommand(
    command,
    'switches',
    'list your own keys and teams that are recorded, who has switched recording on, and since when',
  ).action((options: AdminOptions) =>
    run(options, (context) =>
      printList(context, context.client.list<Switch>('/recording-switches'), {
        head: ['WHAT', 'ID', 'SINCE (UTC)', 'SWITCHED ON BY', 'SENT TO', 'NAME'],
        row: ({ of, id, since, by = '-', traced, name }) => {
          return [of, id, formatMinute(since), by, traced ? 'traces' : '-', name];
        },
        none: 'None of your requests are recorded.',
      }),
    ),
  );
  withFilters(addCommand(command, 'list', 'list recorded requests, newest first'))
    .option('--request <request>', 'only the requests with this id; other filters are ignored')
    .option('--limit <count>', 'how many at most', createWholeNumberParser(1, 100_000), 50)
    .action((options: ListOptions) => run(options, (context) => listRecordings(context, options)));
  withStore(addCommand(command, 'show', 'print a recorded request and its answer'))
    .argument(...requestArgument)
    .action((id: string, options: RecordingOptions) => run(options, (context) => showRecording(context, id, options)));
  withStore(addCommand(command, 'delete', 'delete a recorded request'))
    .argument(...requestArgument)
    .action((id: string, options: RecordingOptions) =>
      run(options, async (context) => {
        const { storedAs } = options;
        await context.client.send('DELETE', buildPath`/recordings/${id}`, { query: { storedAs } });
        printDone(context, { id, deleted: true }, `The recording of ${id} is deleted.`);
      }),
    );
  withFilters(addCommand(command, 'export', 'write recorded requests with their content as JSON, newest first'))
    .option('--out <file>', 'path of the file; the standard output without it')
    .action((options: FilterOptions & { out?: string }) =>
      run(options, async (context) =>
        downloadFile(context, '/recordings/export', await toQuery(context.client, options), options.out),
      ),
    );
  return command;
}

function withFilters(command: Command): Command {
  return command
    .option('--owner <owner>', 'only the requests of user:<address>, team:<name>, or key:<id> (a router key)')
    .option('--key <key>', 'only the requests sent with the key that has this id')
    .option('--session <session>', 'only the requests of the session that has this id');
}

function withStore(command: Command): Command {
  return command.option(
    '--stored-as <owner>',
    'the owner of the recording, if requests of several owners have the same id',
  );
}

async function toQuery(client: AdminClient, { owner, key, session }: FilterOptions): Promise<Query> {
  return { owner: owner === undefined ? undefined : await findOwner(client, owner), key, session };
}

async function findOwner(client: AdminClient, text: string): Promise<string> {
  if (text.startsWith('key:')) return text;
  const { value } = await findParty(client, text);
  return `${text.slice(0, text.indexOf(':'))}:${value.id}`;
}

async function listRecordings(context: AdminContext, options: ListOptions): Promise<void> {
  const { client } = context;
  const query = { ...(await toQuery(client, options)), request: options.request };
  const recordings = client.list<Recording>('/recordings', query, options.limit);
  await printList(context, recordings, {
    head: ['AT (UTC)', 'ID', 'OWNER', 'KEY', 'MODEL', 'STATUS', 'BYTES', 'EXPIRES (UTC)'],
    row: (recording) => {
      const { at: time, id, recordedBy, key, model = '-', requestBytes, answerBytes, expiresAt } = recording;
      const bytes = `${requestBytes}+${answerBytes}`;
      return [
        formatMinute(time),
        id,
        recordedBy,
        key.name,
        model,
        formatStatus(recording),
        bytes,
        formatMinute(expiresAt),
      ];
    },
    none: 'There are no recorded requests.',
  });
}

async function showRecording(context: AdminContext, id: string, { storedAs }: RecordingOptions): Promise<void> {
  const recording = await context.client.get<WholeRecording>(buildPath`/recordings/${id}`, { storedAs });
  const { request, answer, answerEncoding, ...facts } = recording;
  printFacts(context, recording, {
    request: facts.id,
    at: formatMinute(facts.at),
    endpoint: facts.endpoint,
    format: facts.format,
    model: facts.model,
    key: `${facts.key.name} (${facts.key.id})`,
    owner: facts.recordedBy,
    session: facts.session,
    status: formatStatus(facts),
    expires: formatMinute(facts.expiresAt),
  });
  if (context.json) return;
  const { requestBytes, isRequestCut, answerBytes, isAnswerCut } = facts;
  printContent(context, `request, ${formatSize(requestBytes, isRequestCut)}`, request);
  const encoding = answerEncoding === 'utf8' ? '' : ', in base64';
  printContent(context, `answer, ${formatSize(answerBytes, isAnswerCut)}${encoding}`, answer);
}

/** Prints content line by line. Replaces the characters that control a terminal. */
function printContent({ print }: Pick<AdminContext, 'print'>, what: string, content: string): void {
  print('');
  print(`${what}:`);
  for (const line of content.split('\n')) print(toTableLines([[line]]).join(''));
}

function formatSize(bytes: number, isCut: boolean): string {
  return `${bytes} bytes${isCut ? ', not all recorded' : ''}`;
}

function formatStatus({ status, end }: Pick<Recording, 'status' | 'end'>): string {
  return `${status ?? '-'}${end === 'cut' ? ', cut off' : ''}`;
}

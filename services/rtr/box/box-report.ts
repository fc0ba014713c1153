import type { Engine } from '../up/workers/find-engines.ts';

/** A worker of a box that serves. */
export interface ServingWorker {
  /** The address of its engine, or the name of its program or provider. */
  name: string;
  isEngine: boolean;
  /** Ids of the models; undefined if they are not known here. */
  models: readonly string[] | undefined;
}

/** What a machine has that a box may serve. */
export interface BoxFindings {
  gpus: readonly string[];
  engines: readonly (Engine & { models: readonly string[] | undefined })[];
  /** Programs and providers, such as `claude (/usr/bin/claude)`, with the reason if one is not offered. */
  others: readonly string[];
}

/** Maximum number of models of an engine that are printed. */
const maxShownModels = 5;

/** Formats the list of what was found on this machine. */
export function formatBoxFindings({ gpus, engines, others }: BoxFindings): string {
  const engineLines = engines.map(
    ({ url, origin, models }) => `${url} (${origin}): ${models ? formatModels(models) : 'does not answer yet'}`,
  );
  return [
    ...toLines('GPUs', gpus.length > 0 ? gpus : ['none found']),
    ...toLines('engines', engineLines.length > 0 ? engineLines : ['none found']),
    ...toLines('others', others),
  ].join('\n');
}

/** Formats the line that tells how the box has joined, such as `joined as joes-box, 2 engines, 5 models`. */
export function formatJoined(name: string, workers: readonly ServingWorker[]): string {
  if (workers.length === 0)
    return `joined as ${name}. No engine serves yet: the box waits for one. Start Ollama, vLLM, SGLang, LM Studio or llama.cpp on its usual port, or name an address in ENGINE_URLS.`;
  const engines = workers.filter(({ isEngine }) => isEngine).length;
  const others = workers.filter(({ isEngine }) => !isEngine).map(({ name: other }) => other);
  const models = new Set(workers.flatMap((worker) => worker.models ?? [])).size;
  const counted = [
    engines > 0 || others.length === 0 ? count(engines, 'engine') : '',
    ...others,
    count(models, 'model'),
  ];
  return `joined as ${name}, ${counted.filter((part) => part !== '').join(', ')}`;
}

/** Formats the line about a worker that serves later than the others. */
export function formatServing({ name, models }: ServingWorker): string {
  return models ? `${name} is served now: ${formatModels(models)}` : `${name} is served now`;
}

function formatModels(models: readonly string[]): string {
  const shown = models.slice(0, maxShownModels).join(', ');
  const more = models.length > maxShownModels ? ` and ${models.length - maxShownModels} more` : '';
  return `${count(models.length, 'model')}${models.length > 0 ? `: ${shown}${more}` : ''}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function toLines(title: string, entries: readonly string[]): string[] {
  return entries.map((entry, index) => `  ${(index === 0 ? title : '').padEnd(8)}  ${entry}`);
}

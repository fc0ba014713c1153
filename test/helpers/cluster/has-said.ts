import type { ServiceProcess } from '../processes/start-process.ts';

/** Whether an ingress has logged one of these messages about a worker. With a credential, the worker's owner stands before its name. */
export function hasSaid({ lines }: ServiceProcess, id: string, ...messages: string[]): boolean {
  return lines.some(({ msg, worker }) => messages.includes(String(msg)) && `.${String(worker)}`.endsWith(`.${id}`));
}

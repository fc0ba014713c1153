import { json, Router, type Request, type Response } from 'express';
import { getActor } from '../actor.ts';
import type { Operation } from './operation.ts';

export interface MountOptions {
  /** The number of items on a page of a list if the request sets no limit. Infinity: lists are answered whole, as an array. */
  pageSize: number;
  /** Called before an operation. Throws if the operation is not permitted. */
  permit?: (response: Response, operation: Operation) => void;
}

/** Mounts operations as routes. Earlier middleware must identify the sender of a request (see `setActor`). */
export function mountOperations(operations: readonly Operation[], { pageSize, permit }: MountOptions): Router {
  const routes = Router({ caseSensitive: true, strict: true });
  for (const operation of operations) {
    const { maxBodyBytes } = operation;
    const readBody = maxBodyBytes === undefined ? [] : [json({ limit: maxBodyBytes })];
    routes[operation.method](toExpressPath(operation), ...readBody, async (request: Request, response: Response) => {
      permit?.(response, operation);
      const outcome = await operation.run({ actor: getActor(response), request, response, pageSize });
      if (outcome === 'sent') return;
      const { status, value, etag, next } = outcome;
      if (etag !== undefined) response.setHeader('etag', etag);
      const isPaged = operation.isList && (operation.isEndless || pageSize !== Infinity);
      send(response, status, isPaged ? { data: value, ...(next !== undefined && { next }) } : value);
    });
  }
  return routes;
}

/** Returns the path of an operation in the notation of Express. */
export function toExpressPath({ path }: Pick<Operation, 'path'>): string {
  return path.replaceAll(/\{\+(\w+)\}/g, '*$1').replaceAll(/\{(\w+)\}/g, ':$1');
}

function send(response: Response, status: number, value: unknown): void {
  response.status(status);
  if (value === undefined) response.end();
  else response.json(value);
}

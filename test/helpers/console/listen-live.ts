import { createParser } from 'eventsource-parser';
import { onTestFinished } from 'vitest';
import type { Failure, LiveWorkerFacts, Overview, QueuedLane, RefusalCounts } from '#services/console/contract/live.ts';
import type { ConsoleClient } from './console-client.ts';

/** A page that is connected to the live feed. */
export interface LivePage {
  response: Response;
  /** The last event of each kind. */
  news: {
    overview?: Overview;
    workers?: LiveWorkerFacts[];
    queue?: QueuedLane[];
    failures?: Failure[];
    refused?: RefusalCounts[];
  };
  /** Returns every received byte. */
  text: () => string;
  isOver: () => boolean;
  leave: () => void;
}

/** Connects to the live feed as a page does, until the end of the test. */
export async function listenLive({ cookie = '', url: own }: ConsoleClient, url = own): Promise<LivePage> {
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const response = await fetch(`${url}/console/api/live`, { headers: { cookie }, signal: controller.signal });
  const news: LivePage['news'] = {};
  let text = '';
  let ended = false;
  const parser = createParser({
    onEvent: ({ event, data }) => Object.assign(news, { [event ?? '']: JSON.parse(data) }),
  });
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) {
      const piece = decoder.decode(part, { stream: true });
      text += piece;
      parser.feed(piece);
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (ended = true));
  return { response, news, text: () => text, isOver: () => ended, leave: () => controller.abort() };
}

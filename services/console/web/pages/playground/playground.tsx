import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useMemo, useState, useEffect, useLayoutEffect, useRef } from 'react';
import { useSearchParams } from 'wouter';
import type { About, ServedModel } from '../../../contract/live.ts';
import { useApi } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { generates } from '../../parts/operations.ts';
import { Page } from '../../parts/page.tsx';
import { useTools } from '../tools/run-tool.ts';
import { Composer } from './composer.tsx';
import { openCalls, type Settings } from '../../formats/conversation.ts';
import { curlOf } from '../../formats/curl-of.ts';
import { servedFormats, type ServedFormat } from '../../formats/web-formats.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { TurnView } from './turn-view.tsx';
import './playground.css';
import { useConversation } from './use-conversation.ts';

/** A conversation with any model, in any format, over the same paths that clients use. */
export function Playground() {
  const models = useApi<ServedModel[]>('/models', { everyMs: 15_000 });
  const about = useApi<About>('/about');
  return (
    <Page
      title="Playground"
      about="Talk to any model as a client would, and see who answered. Conversations are not stored."
    >
      <Loaded query={models} what="the models">
        {(list) => (
          <Loaded query={about} what="the addresses">
            {(found) => (
              <Formats
                models={list.filter((model) => generates(model) && !model.notPermitted)}
                formats={servedFormats(found)}
              />
            )}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

function Formats({ models, formats: [first, ...rest] }: { models: readonly ServedModel[]; formats: ServedFormat[] }) {
  return first ? (
    <Talk models={models} formats={[first, ...rest]} />
  ) : (
    <section className="panel">
      <Empty title="This page is out of date">
        The router serves no format that this page knows. Reload the page after an update of the router.
      </Empty>
    </section>
  );
}

interface TalkProps {
  models: readonly ServedModel[];
  formats: readonly [ServedFormat, ...ServedFormat[]];
}

function Talk({ models, formats }: TalkProps) {
  const [format, setFormat] = useState(formats[0]);
  const wanted = useSearchParams()[0].get('model');
  const [settings, setSettings] = useState<Settings>({
    model: models.find(({ id }) => id === wanted)?.id ?? models[0]?.id ?? 'auto',
    system: '',
    maxTokens: '',
    temperature: '',
    thinking: false,
    tools: [],
  });
  const conversation = useConversation(format, settings);
  const tools = useTools();
  const isNarrow = useMediaQuery('(max-width: 61.99em)', undefined, { getInitialValueInEffect: false });
  const runnable = useMemo(() => new Set(tools.data?.map(({ name }) => name)), [tools.data]);
  const [showsCurl, curl] = useDisclosure();
  const { turns, isRunning, send, answerCall, again, stop, clear } = conversation;
  useStayAtEnd(turns);
  const chosen = models.find(({ id }) => id === settings.model);
  const asked = turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns;
  const waiting = openCalls(turns).length;
  const panel = (
    <SettingsPanel
      formats={formats}
      format={format}
      onFormat={setFormat}
      models={models}
      tools={tools}
      settings={settings}
      onChange={setSettings}
    />
  );
  return (
    <div className="playground">
      <Stack gap="sm">
        {turns.length === 0 ? (
          <section className="panel">
            <Empty title="Start a conversation">
              {models.length === 0
                ? 'No worker serves a model yet. A message waits for one for a while.'
                : 'Choose a model and write below. The answer streams as clients receive it.'}
            </Empty>
          </section>
        ) : (
          <Stack gap="sm" role="log" aria-label="Conversation" aria-live="off">
            {turns.map((turn, index) => (
              <TurnView
                // oxlint-disable-next-line no-array-index-key -- turns only ever come at the end
                key={index}
                turn={turn}
                isLast={index === turns.length - 1}
                runnable={runnable}
                onAgain={again}
                onResult={answerCall}
              />
            ))}
          </Stack>
        )}
        <Composer
          isRunning={isRunning}
          waitingCalls={waiting}
          takesImages={chosen?.capabilities.includes('vision') ?? true}
          onSend={send}
          onStop={stop}
        />
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={curl.open}>
            Show as curl
          </Button>
          {turns.length > 0 ? (
            <Button variant="default" size="xs" onClick={clear}>
              New conversation
            </Button>
          ) : null}
        </Group>
      </Stack>
      {isNarrow ? (
        <details className="playground-first">
          <summary>
            <Text span size="sm">
              Settings: {settings.model}, {format.label}
            </Text>
          </summary>
          {panel}
        </details>
      ) : (
        panel
      )}
      <Modal opened={showsCurl} onClose={curl.close} title="The request as curl" size="xl">
        <CodeBlock
          wrap
          label="the request"
          code={curlOf(
            `${window.location.origin}${format.base}${format.path}`,
            format.headers,
            format.buildRequest(asked.length === 0 ? [{ role: 'user', text: 'Hello!', images: [] }] : asked, settings),
          )}
        />
      </Modal>
    </div>
  );
}

/** Pixels from the end within which a page counts as scrolled to the end. */
const nearPx = 120;

/** Keeps the end of the page in view while it grows, unless the person has scrolled away. */
function useStayAtEnd(grows: readonly unknown[]): void {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const note = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = document.documentElement;
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearPx;
    };
    window.addEventListener('scroll', note, { passive: true });
    return () => window.removeEventListener('scroll', note);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current && grows.length > 0) {
      window.scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, [grows]);
}

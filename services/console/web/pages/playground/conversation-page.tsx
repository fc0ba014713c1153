import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import type { ServedModel } from '../../../contract/live.ts';
import { useSession } from '../../api/session.ts';
import { callsWithoutResult } from '../../formats/conversation.ts';
import { toCurlCommand } from '../../formats/to-curl-command.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Empty } from '../../parts/loaded.tsx';
import { useTools } from '../tools/run-tool.ts';
import { Composer } from './composer.tsx';
import { useEscape } from './keys.ts';
import { SavedDialog } from './saved/saved-dialog.tsx';
import type { SharedSettings } from './saved/saved-conversation.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { SideView } from './side-view.tsx';
import { useAddress } from './use-address.ts';
import type { ConversationControl } from './use-conversation.ts';
import { useSaved } from './use-saved.ts';
import { useSides } from './use-sides.ts';
import { useStayAtEnd } from './use-stay-at-end.ts';

export interface TalkProps {
  models: readonly ServedModel[];
  formats: readonly [ServedFormat, ...ServedFormat[]];
}

const usualSettings: SharedSettings = { system: '', maxTokens: '', temperature: '', thinking: false, tools: [] };

export function ConversationPage({ models, formats }: TalkProps) {
  const { user } = useSession();
  const address = useAddress(models[0]?.id ?? 'auto');
  const [format, setFormat] = useState(formats[0]);
  const [{ settings, ownTools }, setSettings] = useState({ settings: usualSettings, ownTools: '' });
  const sides = useSides(format, settings, address);
  const { conversations, isSaved, open, begin } = useSaved({
    user: user.id,
    address,
    sides,
    format,
    settings,
    ownTools,
    onOpened: (content) => {
      setFormat(formats.find(({ name }) => name === content.format) ?? formats[0]);
      setSettings({ settings: content.settings, ownTools: content.ownTools });
    },
  });
  const tools = useTools();
  const isNarrow = useMediaQuery('(max-width: 61.99em)', undefined, { getInitialValueInEffect: false });
  const runnable = useMemo(() => new Set(tools.data?.map(({ name }) => name)), [tools.data]);
  const [showsCurl, curl] = useDisclosure();
  const [showsSaved, saved] = useDisclosure();
  useEscape(sides.isRunning, sides.stop);
  const { all } = sides;
  useStayAtEnd(all[0]?.turns ?? [], all[1]?.turns ?? []);
  const isEmpty = all.every(({ turns }) => turns.length === 0);
  const names = models.map(({ id }) => id);
  const panel = (
    <SettingsPanel
      formats={formats}
      format={format}
      onFormat={setFormat}
      models={models}
      chosen={address.models}
      onChoose={sides.choose}
      tools={tools}
      settings={settings}
      ownTools={ownTools}
      onChange={(next, written) => setSettings({ settings: next, ownTools: written })}
    />
  );
  return (
    <div className="playground">
      <Stack gap="sm">
        {isEmpty ? (
          <section className="panel">
            <Empty title="Start a conversation">
              {models.length === 0
                ? 'No worker serves a model yet. A message waits for one for a while.'
                : 'Choose a model and write below. The answer streams as clients receive it.'}
            </Empty>
          </section>
        ) : (
          <div className={all.length > 1 ? 'sides' : undefined} key={sides.loadCount}>
            {all.map((conversation, index) => (
              <SideView
                key={index}
                conversation={conversation}
                models={names}
                runnable={runnable}
                onEdit={(place, text) => sides.edit(index, place, text)}
                onAgain={(model) => sides.again(index, model)}
                beside={
                  all.length > 1 ? { model: address.models[index] ?? '', onKeep: () => sides.keep(index) } : undefined
                }
              />
            ))}
          </div>
        )}
        <Composer
          isRunning={sides.isRunning}
          waitingCalls={all.reduce((sum, { turns }) => sum + callsWithoutResult(turns).length, 0)}
          takesImages={address.models.every(
            (model) => models.find(({ id }) => id === model)?.capabilities.includes('vision') ?? true,
          )}
          onSend={sides.send}
          onStop={sides.stop}
        />
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={saved.open}>
            Saved conversations
          </Button>
          <Button variant="default" size="xs" onClick={curl.open}>
            Show as curl
          </Button>
          {isEmpty ? null : (
            <Button variant="default" size="xs" onClick={begin}>
              New conversation
            </Button>
          )}
          <Text size="xs" c="dimmed" role="status">
            {isSaved && !isEmpty && !sides.isRunning ? 'Saved in this browser.' : ''}
          </Text>
        </Group>
        {conversations.problem === '' ? null : (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            This browser does not keep the conversation: {conversations.problem}
          </Text>
        )}
      </Stack>
      {isNarrow ? (
        <details className="playground-first">
          <summary>
            <Text span size="sm">
              Settings: {address.models.join(' and ')}, {format.label}
            </Text>
          </summary>
          {panel}
        </details>
      ) : (
        panel
      )}
      <Modal opened={showsCurl} onClose={curl.close} title="The request as curl" size="xl">
        <Stack gap="sm">
          {all.map((side, index) => (
            <CodeBlock
              key={index}
              wrap
              label={index === 0 ? 'the request' : 'the other request'}
              code={curlFor(format, { ...settings, model: address.models[index] ?? '' }, side)}
            />
          ))}
        </Stack>
      </Modal>
      <SavedDialog
        isOpen={showsSaved}
        onClose={saved.close}
        conversations={conversations}
        shown={address.conversation}
        onOpen={(id) => {
          saved.close();
          void open(id);
        }}
        onRemoved={(ids) => {
          if (address.conversation !== undefined && ids.includes(address.conversation)) begin();
        }}
      />
    </div>
  );
}

/** Returns the last request of a conversation as a shell command. Before the first request it returns an example. */
function curlFor(
  format: ServedFormat,
  settings: Parameters<ServedFormat['buildRequest']>[1],
  { turns }: ConversationControl,
): string {
  const sentTurns = turns.at(-1)?.role === 'assistant' ? turns.slice(0, -1) : turns;
  return toCurlCommand(
    `${window.location.origin}${format.base}${format.path}`,
    format.headers,
    format.buildRequest(sentTurns.length === 0 ? [{ role: 'user', text: 'Hello!', images: [] }] : sentTurns, settings),
  );
}

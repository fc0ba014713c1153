import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import type { ServedModel } from '../../../contract/live.ts';
import { useSession } from '../../api/session.ts';
import { findCallsWithoutResult } from '../../formats/conversation.ts';
import { toCurlCommand } from '../../formats/to-curl-command.ts';
import type { ServedFormat } from '../../formats/web-formats.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { EmptyPanel } from '../../parts/loaded.tsx';
import { useTools } from '../tools/run-tool.ts';
import { Composer } from './composer.tsx';
import { useEscape } from './keyboard.ts';
import { SavedDialog } from './saved/saved-dialog.tsx';
import type { SharedSettings } from './saved/saved-conversation.ts';
import { SettingsPanel } from './settings-panel.tsx';
import { SideView } from './side-view.tsx';
import { useAddress } from './use-address.ts';
import type { ConversationControl } from './use-conversation.ts';
import { useSavedConversation } from './use-saved-conversation.ts';
import { useSides } from './use-sides.ts';
import { useStayAtEnd } from './use-stay-at-end.ts';

export interface ConversationPageProps {
  models: readonly ServedModel[];
  formats: readonly [ServedFormat, ...ServedFormat[]];
}

const defaultSettings: SharedSettings = { system: '', maxTokens: '', temperature: '', thinking: false, tools: [] };

export function ConversationPage({ models, formats }: ConversationPageProps) {
  const { user } = useSession();
  const address = useAddress(models[0]?.id ?? 'auto');
  const [format, setFormat] = useState(formats[0]);
  const [{ settings, ownTools }, setSettings] = useState({ settings: defaultSettings, ownTools: '' });
  const sides = useSides(format, settings, address);
  const { conversations, isSaved, open, beginNew } = useSavedConversation({
    userId: user.id,
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
  const runnableTools = useMemo(() => new Set(tools.data?.map(({ name }) => name)), [tools.data]);
  const [showsCurl, curlDialog] = useDisclosure();
  const [showsSaved, savedDialog] = useDisclosure();
  useEscape(sides.isRunning, sides.stop);
  const { conversations: shownConversations } = sides;
  useStayAtEnd(shownConversations[0]?.turns ?? [], shownConversations[1]?.turns ?? []);
  const isEmpty = shownConversations.every(({ turns }) => turns.length === 0);
  const modelIds = models.map(({ id }) => id);
  const settingsPanel = (
    <SettingsPanel
      formats={formats}
      format={format}
      onChooseFormat={setFormat}
      models={models}
      chosenModels={address.models}
      onChooseModels={sides.chooseModels}
      tools={tools}
      settings={settings}
      ownTools={ownTools}
      onChange={(newSettings, newOwnTools) => setSettings({ settings: newSettings, ownTools: newOwnTools })}
    />
  );
  return (
    <div className="playground">
      <Stack gap="sm">
        {isEmpty ? (
          <EmptyPanel title="Start a conversation">
            {models.length === 0
              ? 'No worker serves a model yet. A message waits for a worker for a while.'
              : 'Choose a model and write below. The answer streams as clients receive it.'}
          </EmptyPanel>
        ) : (
          <div className={shownConversations.length > 1 ? 'sides' : undefined} key={sides.loadCount}>
            {shownConversations.map((conversation, index) => (
              <SideView
                key={index}
                conversation={conversation}
                models={modelIds}
                runnableTools={runnableTools}
                onEdit={(turnIndex, text) => sides.edit(index, turnIndex, text)}
                onAnswerAgain={(model) => sides.answerAgain(index, model)}
                comparison={
                  shownConversations.length > 1
                    ? { model: address.models[index] ?? '', onKeep: () => sides.keepOnly(index) }
                    : undefined
                }
              />
            ))}
          </div>
        )}
        <Composer
          isRunning={sides.isRunning}
          unansweredCalls={shownConversations.reduce((sum, { turns }) => sum + findCallsWithoutResult(turns).length, 0)}
          takesImages={address.models.every(
            (model) => models.find(({ id }) => id === model)?.capabilities.includes('vision') ?? true,
          )}
          onSend={sides.send}
          onStop={sides.stop}
        />
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={savedDialog.open}>
            Saved conversations
          </Button>
          <Button variant="default" size="xs" onClick={curlDialog.open}>
            Show as curl
          </Button>
          {isEmpty ? null : (
            <Button variant="default" size="xs" onClick={beginNew}>
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
          {settingsPanel}
        </details>
      ) : (
        settingsPanel
      )}
      <Modal opened={showsCurl} onClose={curlDialog.close} title="The request as curl" size="xl">
        <Stack gap="sm">
          {shownConversations.map((side, index) => (
            <CodeBlock
              key={index}
              wrap
              label={index === 0 ? 'the request' : 'the other request'}
              code={buildCurlCommand(format, { ...settings, model: address.models[index] ?? '' }, side)}
            />
          ))}
        </Stack>
      </Modal>
      <SavedDialog
        isOpen={showsSaved}
        onClose={savedDialog.close}
        conversations={conversations}
        shownId={address.conversationId}
        onOpen={(id) => {
          savedDialog.close();
          void open(id);
        }}
        onRemoved={(ids) => {
          if (address.conversationId !== undefined && ids.includes(address.conversationId)) beginNew();
        }}
      />
    </div>
  );
}

/** Returns the last request of a conversation as a shell command. Before the first request, returns an example. */
function buildCurlCommand(
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

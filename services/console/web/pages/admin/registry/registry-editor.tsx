import { Alert, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useRef, useState, type SyntheticEvent } from 'react';
import type { RegistryChange, RegistryCheck, RegistryState } from '../../../../contract/registry.ts';
import { callApi } from '../../../api/call-api.ts';
import { refreshAnswers, useChange } from '../../../api/use-api.ts';
import { Failure } from '../../../parts/failure.tsx';
import { LineDiff } from './line-diff.tsx';
import { RegistryProblems } from './registry-problems.tsx';

interface Draft {
  text: string;
  /** The stored version that the person began to edit. */
  basedOn: number;
}

const example = `models:
  fast:
    targets:
      - { model: qwen3-8b, tier: gpu }
      - { model: gpt-5-mini }`;

/** Edits the stored registry as text. Keeps the typed text if somebody else stores another version in the meantime. */
export function RegistryEditor({ state }: { state: RegistryState }) {
  const { version, text: storedText = '' } = state;
  const [draft, setDraft] = useState<Draft>();
  const [note, setNote] = useState('');
  const [showsChanges, setShowsChanges] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const text = draft?.text ?? storedText;
  const check = useChange(
    (textToCheck: string) => callApi<RegistryCheck>('POST', '/registry/check', { text: textToCheck }),
    [],
  );
  const save = useChange(
    (newVersion: RegistryChange) => callApi<RegistryState>('PUT', '/registry', newVersion),
    ['/registry'],
  );
  const changeText = (typed: string): void => {
    check.reset();
    save.reset();
    setDraft(typed === storedText ? undefined : { text: typed, basedOn: draft?.basedOn ?? version });
  };
  const onSubmit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!draft) return;
    check.reset();
    save.mutate(
      { ...draft, ...(note.trim() !== '' && { note: note.trim() }) },
      {
        onSuccess: () => {
          setDraft(undefined);
          setNote('');
          setShowsChanges(false);
        },
        onError: ({ code }) => {
          // The check finds the problems and their lines.
          if (code === 'invalid_registry') check.mutate(draft.text);
          else if (code === 'registry_changed') void refreshAnswers(['/registry']);
        },
      },
    );
  };
  const selectLine = (line: number): void => {
    const lineStart =
      text
        .split('\n')
        .slice(0, line - 1)
        .join('\n').length + (line > 1 ? 1 : 0);
    const lineEnd = text.indexOf('\n', lineStart);
    // A browser scrolls to the selection when the field gets the focus.
    field.current?.blur();
    field.current?.setSelectionRange(lineStart, lineEnd === -1 ? text.length : lineEnd);
    field.current?.focus();
  };
  const isOutdated = draft !== undefined && draft.basedOn !== version && draft.text !== storedText && !save.isPending;
  return (
    <form className="panel" onSubmit={onSubmit}>
      <Stack gap="sm">
        <Textarea
          ref={field}
          label="Registry (YAML)"
          description="Sections: models, auto, hosted_tools and credentials"
          placeholder={example}
          autosize
          minRows={12}
          maxRows={32}
          spellCheck={false}
          value={text}
          styles={{
            input: { fontFamily: 'var(--mantine-font-family-monospace)', whiteSpace: 'pre', overflowX: 'auto' },
          }}
          onChange={({ currentTarget }) => changeText(currentTarget.value)}
        />
        {check.data && !check.data.ok ? (
          <RegistryProblems problems={check.data.problems} text={text} onShow={selectLine} />
        ) : null}
        {check.error ? <Failure title="The registry was not checked" error={check.error} /> : null}
        {save.error && save.error.code !== 'invalid_registry' && !isOutdated ? (
          <Failure title="The registry was not saved" error={save.error} />
        ) : null}
        {isOutdated ? (
          <OutdatedNotice
            state={state}
            text={text}
            onKeep={() => setDraft({ text, basedOn: version })}
            onDrop={() => setDraft(undefined)}
          />
        ) : null}
        {showsChanges && draft ? <LineDiff earlier={storedText} later={text} label="Changes" /> : null}
        <TextInput
          label="What has changed"
          description="For the history; may be empty"
          maxLength={200}
          value={note}
          onChange={({ currentTarget }) => setNote(currentTarget.value)}
        />
        <Group>
          <Button type="submit" disabled={!draft || isOutdated} loading={save.isPending}>
            Save
          </Button>
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate(text)}>
            Check
          </Button>
          <Button variant="default" disabled={!draft} onClick={() => setShowsChanges(!showsChanges)}>
            {showsChanges && draft ? 'Hide changes' : 'Show changes'}
          </Button>
          <Button variant="default" disabled={!draft} onClick={() => changeText(storedText)}>
            Discard
          </Button>
          <Text size="sm" role="status">
            {save.isSuccess ? `Saved as version ${save.data.version}.` : null}
            {check.data?.ok ? 'No problems.' : null}
          </Text>
        </Group>
      </Stack>
    </form>
  );
}

interface OutdatedProps {
  state: RegistryState;
  text: string;
  onKeep: () => void;
  onDrop: () => void;
}

/** Warns that somebody has stored another version in the meantime, and shows what saving the text would change. */
function OutdatedNotice({ state: { version, text: storedText = '' }, text, onKeep, onDrop }: OutdatedProps) {
  return (
    <Alert
      color="orange"
      variant="outline"
      title={`Version ${version} was stored meanwhile`}
      role="alert"
      styles={{ title: { color: 'var(--mantine-color-text)' } }}
    >
      <Stack gap="xs">
        <Text size="sm">Saving your text would change version {version} as follows.</Text>
        <LineDiff earlier={storedText} later={text} label={`Changes of version ${version}`} />
        <Group>
          <Button size="xs" variant="default" onClick={onKeep}>
            Keep my text
          </Button>
          <Button size="xs" variant="default" onClick={onDrop}>
            Take version {version}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}

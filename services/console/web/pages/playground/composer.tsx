import { ActionIcon, Button, FileButton, Group, Stack, Text, Textarea, Tooltip, VisuallyHidden } from '@mantine/core';
import { useState, type KeyboardEvent } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { isSendKey } from './keyboard.ts';

export interface ComposerProps {
  isRunning: boolean;
  /** The number of tool calls that must be answered before a turn can be sent. */
  unansweredCalls: number;
  takesImages: boolean;
  onSend: (text: string, images: string[]) => void;
  onStop: () => void;
}

const maxImages = 8;

/** The input for the next turn. Enter, Ctrl+Enter and Cmd+Enter send the turn. Shift+Enter starts a new line. */
export function Composer({ isRunning, unansweredCalls, takesImages, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const [images, setImages] = useState<string[]>([]);
  const [problem, setProblem] = useState('');
  const canSend = !isRunning && unansweredCalls === 0 && (text.trim() !== '' || images.length > 0);
  const send = (): void => {
    if (!canSend) return;
    onSend(text, images);
    setText('');
    setImages([]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isSendKey(event)) return;
    event.preventDefault();
    send();
  };
  const attach = async (files: File[]): Promise<void> => {
    setProblem('');
    try {
      const newImages = await Promise.all(files.map(downscaleImage));
      setImages((before) => [...before, ...newImages].slice(0, maxImages));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <Stack gap="xs" className="panel">
      <Textarea
        label="Your message"
        placeholder={
          unansweredCalls > 0 ? 'Answer the tool calls above first' : 'Enter sends, Shift + Enter starts a new line'
        }
        autosize
        minRows={2}
        maxRows={12}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
        onPaste={({ clipboardData }) => {
          const pastedImages = [...clipboardData.files].filter(({ type }) => type.startsWith('image/'));
          if (pastedImages.length > 0) void attach(pastedImages);
        }}
      />
      {images.length === 0 ? null : (
        <Group gap="xs">
          {images.map((url, index) => (
            // oxlint-disable-next-line no-array-index-key -- two images may have the same URL
            <Stack key={index} gap={2} align="center">
              <img src={url} alt={`Attachment ${index + 1}`} className="attachment" />
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                onClick={() => setImages(images.filter((_, otherIndex) => otherIndex !== index))}
              >
                Remove<VisuallyHidden> attachment {index + 1}</VisuallyHidden>
              </Button>
            </Stack>
          ))}
        </Group>
      )}
      {images.length > 0 && !takesImages ? (
        <Text size="xs" c="dimmed">
          This model does not report that it accepts images.
        </Text>
      ) : null}
      {problem === '' ? null : (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      <Group justify="space-between">
        <FileButton accept="image/*" multiple onChange={(files) => void attach(files)}>
          {(props) => (
            <Tooltip label="Attach images">
              <ActionIcon {...props} variant="default" size="lg" aria-label="Attach images">
                <Icon name="image" />
              </ActionIcon>
            </Tooltip>
          )}
        </FileButton>
        {isRunning ? (
          <Button
            color="red.8"
            leftSection={<Icon name="stop" size={16} />}
            title="Escape also stops the answer"
            aria-keyshortcuts="Escape"
            onClick={onStop}
          >
            Stop
          </Button>
        ) : (
          <Button leftSection={<Icon name="send" size={16} />} disabled={!canSend} onClick={send}>
            Send
          </Button>
        )}
      </Group>
    </Stack>
  );
}

/** Maximum length of an image's longer side, in pixels. Vision models scale larger images down themselves. */
const maxSidePixels = 1_568;

const maxImageBytes = 40 * 1024 * 1024;

/**
 * Reads an image file, scales it down to the size that models use, and returns it as a data URL.
 * @throws Error with a sentence for the person when the file is too large or not an image
 */
async function downscaleImage(file: File): Promise<string> {
  if (file.size > maxImageBytes) throw new Error(`${file.name} is larger than 40 MB. Choose a smaller image.`);
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name} is not an image that this browser can read.`);
  });
  const scale = Math.min(1, maxSidePixels / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  return canvas.toDataURL(file.type === 'image/png' ? 'image/png' : 'image/jpeg', 0.85);
}

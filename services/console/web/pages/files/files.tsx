import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { FileList } from '../../../contract/batches.ts';
import { useApi } from '../../api/use-api.ts';
import { formatBytes, formatCount } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Loaded } from '../../parts/loaded.tsx';
import { OwnerSelect } from '../../parts/owner-select.tsx';
import { Page } from '../../parts/page.tsx';
import { useOwner } from '../../parts/use-owner.ts';
import { FileTable } from './file-table.tsx';
import { UploadFile } from './upload-file.tsx';

/** Milliseconds between two fetches of the files. */
const fetchEveryMs = 10_000;

/** Number of files that are shown at first, and that each click adds. */
const pageSize = 50;

export function Files() {
  const choice = useOwner();
  const { owner, isSelf, chooseSelf } = choice;
  const [isUploading, uploadDialog] = useDisclosure();
  return (
    <Page
      title="Files"
      about="Inputs and results of batches, and files that requests refer to."
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={uploadDialog.open}>
          Upload a file
        </Button>
      }
    >
      <OwnerSelect choice={choice} />
      <OwnedFiles key={owner} owner={owner} isSelf={isSelf} onUpload={uploadDialog.open} />
      <UploadFile opened={isUploading} onClose={uploadDialog.close} onUploaded={chooseSelf} />
    </Page>
  );
}

function OwnedFiles({ owner, isSelf, onUpload }: { owner: string; isSelf: boolean; onUpload: () => void }) {
  const [limit, setLimit] = useState(pageSize);
  const files = useApi<FileList>(`/files?owner=${encodeURIComponent(owner)}&limit=${limit}`, { everyMs: fetchEveryMs });
  return (
    <Loaded query={files} contentName="the files">
      {(list) => (
        <Stack gap="xs">
          <Quota use={list.use} />
          {list.files.length === 0 ? (
            <section className="panel">
              <Empty
                title="No files yet"
                action={isSelf ? <Button onClick={onUpload}>Upload your first file</Button> : null}
              >
                {isSelf
                  ? 'Upload the input of a batch, or content that requests refer to instead of sending it each time.'
                  : 'Files that keys of this owner upload appear here.'}
              </Empty>
            </section>
          ) : (
            <FileTable list={list} owner={owner} />
          )}
          {list.more && limit < 500 ? (
            <Group justify="center">
              <Button variant="default" onClick={() => setLimit(Math.min(500, limit + pageSize))}>
                Show earlier files
              </Button>
            </Group>
          ) : null}
        </Stack>
      )}
    </Loaded>
  );
}

function Quota({ use: { bytes, maxBytes, files, maxFiles } }: Pick<FileList, 'use'>) {
  const share = Math.max(bytes / maxBytes, files / maxFiles);
  return (
    <section className="panel" aria-label="Storage">
      <Text size="sm" className="numeric">
        {formatBytes(bytes)} of {formatBytes(maxBytes)}, {formatCount(files)} of {formatCount(maxFiles)} files
      </Text>
      <Progress value={share * 100} color={share > 0.9 ? 'red' : 'blue'} aria-label="Used storage" mt={4} />
    </section>
  );
}

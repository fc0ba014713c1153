import { Button, Progress, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { FileList } from '../../../contract/batches.ts';
import { formatBytes, formatCount } from '../../parts/format.ts';
import { GrowingList } from '../../parts/growing-list.tsx';
import { Icon } from '../../parts/icon.tsx';
import { EmptyPanel } from '../../parts/loaded.tsx';
import { OwnerSelect } from '../../parts/owner-select.tsx';
import { Page } from '../../parts/page.tsx';
import { useOwner } from '../../parts/use-owner.ts';
import { FileTable } from './file-table.tsx';
import { UploadFile } from './upload-file.tsx';

/** Milliseconds between two fetches of the files. */
const fetchEveryMs = 10_000;

export function Files() {
  const choice = useOwner();
  const { owner, isSelf, chooseSelf } = choice;
  const [isUploading, uploadDialog] = useDisclosure();
  return (
    <Page
      title="Files"
      description="Inputs and results of batches, and files that requests refer to."
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
  return (
    <GrowingList<FileList>
      path={`/files?owner=${encodeURIComponent(owner)}`}
      rowsName="files"
      readIds={({ files }) => files.map(({ id }) => id)}
      everyMs={fetchEveryMs}
    >
      {(list, { isFirst }) => (
        <>
          {isFirst ? <Quota use={list.use} /> : null}
          {list.files.length > 0 ? (
            <FileTable list={list} owner={owner} {...(isFirst && { address: '' })} />
          ) : isFirst ? (
            <EmptyPanel
              title="No files yet"
              action={isSelf ? <Button onClick={onUpload}>Upload your first file</Button> : null}
            >
              {isSelf
                ? 'Upload the input of a batch, or content that requests refer to instead of sending it each time.'
                : 'Files that keys of this owner upload appear here.'}
            </EmptyPanel>
          ) : null}
        </>
      )}
    </GrowingList>
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

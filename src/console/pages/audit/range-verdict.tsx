import { RANGE_STATUSES, type RangeVerification } from '../../../client/api.ts'
import { addressOf } from '../../data/place.ts'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { Text } from '../../ui/text.tsx'
import { sentenceOf } from './entry.tsx'

type Status = RangeVerification['status']

/** Title, appearance and advice for each status. The service's table gives its meaning. */
const VERDICTS: Record<Status, { title: string; look: 'allow' | 'require_approval' | 'deny'; next: string }> = {
  ok: { title: 'Valid', look: 'allow', next: 'Nothing to do.' },
  unanchored: {
    title: 'Valid, not anchored',
    look: 'allow',
    next: 'For proof that does not depend on this service, configure external anchors: copies of its checkpoints, out of reach of anyone who can write the data file.',
  },
  empty: { title: 'No entries', look: 'allow', next: 'Nothing was written on these days, and nothing was removed.' },
  tampered: {
    title: 'Tampered with',
    look: 'deny',
    next: 'Do not rely on entries from there on. Keep the data file as it is, and compare with anchors, exports and backups.',
  },
  'broken-link': {
    title: 'Broken',
    look: 'deny',
    next: 'Entries were removed, inserted or moved. Keep the data file as it is, and compare with exports and backups.',
  },
  unsealed: {
    title: 'Appended without the key',
    look: 'deny',
    next: 'Restore a backup, or have the operator check the appended entries and adopt them with `audit restore`.',
  },
  unsigned: {
    title: 'Unsigned for too long',
    look: 'deny',
    next: 'Start the service, which signs later entries, or verify on a machine with the log key.',
  },
  truncated: {
    title: 'Cut off',
    look: 'deny',
    next: 'Signed entries are missing. Keep the data file as it is, and look for them in exports and backups.',
  },
  pruned: {
    title: 'Partly in the archive',
    look: 'require_approval',
    next: 'The remaining entries are valid. Older entries were archived and deleted: verify the archive with gate-sidecar evidence verify FOLDER.',
  },
  unlawful: {
    title: 'Against the rules',
    look: 'deny',
    next: 'Nobody had the permission to write the entry: someone changed the data file without the service. Keep the file as it is, do not rely on anything that follows from the entry, and check who can write the file.',
  },
  forked: {
    title: 'Another history',
    look: 'deny',
    next: 'An anchor holds different entries than this file. Find out which one is genuine before you rely on either.',
  },
  rollback: {
    title: 'Rolled back',
    look: 'deny',
    next: 'The data file was rolled back to an earlier state: later entries are missing. Look for them in exports and backups.',
  },
}

export function RangeVerdict({ of, days }: { of: RangeVerification; days: string }) {
  const { status, fault, firstBadSeq, firstBadChain, entriesChecked } = of
  const { title, look, next } = VERDICTS[status]
  return (
    <div class={`verdict ${look}`}>
      <h3 class="verdict-title" tabIndex={-1}>
        {title}
      </h3>
      <p>{sentenceOf(RANGE_STATUSES[status])}</p>
      {fault !== null && (
        <p>
          <Text of={fault} />
        </p>
      )}
      <p>{next}</p>
      <Facts
        of={{
          Days: days,
          Verified: entries(entriesChecked),
          'First bad entry': firstBadSeq !== null && (
            <>
              {`number ${firstBadSeq.toLocaleString()}: `}
              <Link to={addressOf(['audit'], { before: `${firstBadChain}:${firstBadSeq + 1}` })}>
                show the entries up to it
              </Link>
            </>
          ),
          Anchors:
            of.unanchoredEntries === 0
              ? 'all entries are in an external anchor'
              : `${entries(of.unanchoredEntries)} ${of.unanchoredEntries === 1 ? 'is' : 'are'} in no external anchor yet`,
          Erased:
            of.redactedEntries === 0
              ? 'nothing'
              : `parts of ${entries(of.redactedEntries)}, by a recorded command. Their content can no longer be proved.`,
        }}
      />
    </div>
  )
}

function entries(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'entry' : 'entries'}`
}

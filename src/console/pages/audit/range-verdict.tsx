import { RANGE_STATUSES, type RangeVerification } from '../../../client/api.ts'
import { addressOf } from '../../data/place.ts'
import { Facts } from '../../ui/facts.tsx'
import { Link } from '../../ui/link.tsx'
import { Text } from '../../ui/text.tsx'
import { sentenceOf } from './entry.tsx'

type Status = RangeVerification['status']

/** Title, appearance and advice for each status. The service's table gives its meaning. */
const VERDICTS: Record<Status, { title: string; look: 'allow' | 'require_approval' | 'deny'; next: string }> = {
  ok: { title: 'Valid', look: 'allow', next: 'Nothing is to be done.' },
  unanchored: {
    title: 'Valid, not anchored',
    look: 'allow',
    next: 'To have proof that does not depend on this service, configure external anchors: copies of its checkpoints, kept where nobody who can write the data file can write.',
  },
  empty: { title: 'No entries', look: 'allow', next: 'Nothing was written on these days, and nothing was taken away.' },
  tampered: {
    title: 'Tampered with',
    look: 'deny',
    next: 'Do not rely on entries from there on. Keep the data file as it is, and compare with anchors, exports and backups.',
  },
  'broken-link': {
    title: 'Broken',
    look: 'deny',
    next: 'Entries were taken out, put in or moved. Keep the data file as it is, and compare with exports and backups.',
  },
  unsealed: {
    title: 'Appended without the key',
    look: 'deny',
    next: 'Restore a backup, or have the operator look at what was appended and take it up with `audit restore`.',
  },
  unsigned: {
    title: 'Unsigned for too long',
    look: 'deny',
    next: 'Start the service, which signs what follows, or verify where the log key is at hand.',
  },
  truncated: {
    title: 'Cut off',
    look: 'deny',
    next: 'Entries that were signed are gone. Keep the data file as it is, and look for them in exports and backups.',
  },
  pruned: {
    title: 'Partly in the archive',
    look: 'require_approval',
    next: 'What is left is good. The older entries were archived and deleted: verify the archive with gate-sidecar evidence verify FOLDER.',
  },
  unlawful: {
    title: 'Against the rules',
    look: 'deny',
    next: 'The entry was written, but by nobody who might. Somebody changed the data file behind the service. Keep the file as it is, do not rely on what followed from the entry, and look at who can write the file.',
  },
  forked: {
    title: 'Another history',
    look: 'deny',
    next: 'An anchor holds other entries than this file. Find out which one is genuine before anybody relies on either.',
  },
  rollback: {
    title: 'Put back',
    look: 'deny',
    next: 'The data file was put back to an earlier state: what came after it is missing. Look for it in exports and backups.',
  },
}

export function RangeVerdict({ of, days }: { of: RangeVerification; days: string }) {
  const { status, fault, firstBadSeq, entriesChecked } = of
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
          'First bad': firstBadSeq !== null && (
            <>
              {`number ${firstBadSeq.toLocaleString()}: `}
              <Link to={addressOf(['audit'], { before: String(firstBadSeq + 1) })}>show the entries up to it</Link>
            </>
          ),
          Anchors:
            of.unanchoredEntries === 0
              ? 'all entries are in an external anchor'
              : `${entries(of.unanchoredEntries)} ${of.unanchoredEntries === 1 ? 'is' : 'are'} in no external anchor yet`,
          Erased:
            of.redactedEntries === 0
              ? 'nothing'
              : `parts of ${entries(of.redactedEntries)}, by a command that is on record. What was in them can no longer be proved.`,
        }}
      />
    </div>
  )
}

function entries(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? 'entry' : 'entries'}`
}

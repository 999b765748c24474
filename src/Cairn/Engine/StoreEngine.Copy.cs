using Cairn.Concurrency;
using Cairn.Keys;

namespace Cairn.Engine;

/// <summary>Processes the copy of an entry: header, fields, key and value as in a segment, without padding.</summary>
internal delegate void EntryCopier(uint collection, ReadOnlySpan<byte> entry);

// Copies whole entries out of the store while other threads write, for snapshots and backups. As in any scan, an entry that does not change
// from the beginning to the end is copied. Of an entry that changes meanwhile, an earlier state, a later state or nothing is copied.
internal sealed unsafe partial class StoreEngine
{
    /// <summary>Copies the live entries of one bucket that belong to the chosen collections.</summary>
    /// <exception cref="StoreCorruptException">An entry of a kept collection is damaged.</exception>
    public void CopyBucket(long number, Func<uint, bool> isChosen, ref byte[] buffer, EntryCopier copied)
    {
        List<(byte[] Key, uint Collection)>? keys = null;
        VisitBucket(number, (ReadOnlySpan<byte> key, in EntryInfo _, uint collection) =>
        {
            if (isChosen(collection))
            {
                (keys ??= []).Add((key.ToArray(), collection));
            }
        });
        if (keys is null)
        {
            return;
        }

        foreach ((byte[] key, uint collection) in keys)
        {
            CopyEntry(key, collection, ref buffer, copied);
        }
    }

    // Pinned, so that no byte changes during the copy, except a sliding deadline, which is one word.
    private void CopyEntry(byte[] keyBytes, uint collection, ref byte[] buffer, EntryCopier copied)
    {
        fixed (byte* bytes = keyBytes)
        {
            KeyRef key = Place(bytes, keyBytes.Length, collection);
            if (TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse: false, acceptHash: true) == PinStatus.Missing)
            {
                return; // The entry was removed in the meantime.
            }

            int length;
            using (pin)
            {
                length = (int)pin.Entry.UnpaddedBytes;
                if (buffer.Length < length)
                {
                    buffer = new byte[Math.Max(length, 2 * buffer.Length)];
                }

                new ReadOnlySpan<byte>(pin.Entry.Start, length).CopyTo(buffer);
            }

            copied(collection, buffer.AsSpan(0, length));
        }
    }
}

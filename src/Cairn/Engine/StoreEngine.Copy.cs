using Cairn.Concurrency;
using Cairn.Keys;
using Cairn.Storage;

namespace Cairn.Engine;

/// <summary>What is done with the copy of an entry: header, fields, key and value as they lie in a segment, without padding.</summary>
internal delegate void EntryCopier(uint collection, ReadOnlySpan<byte> entry);

// Copying whole entries out of the store while others go on writing, for snapshots and backups. As with any scan, an entry that stays as it is
// from the beginning to the end is met; of one that is changed meanwhile, an earlier or a later state, or none.
internal sealed unsafe partial class StoreEngine
{
    /// <summary>Copies the live entries of one bucket that belong to the chosen collections.</summary>
    /// <exception cref="StoreCorruptException">An entry that is kept is damaged.</exception>
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

    // Pinned, so that nothing is overwritten while it is copied; a sliding deadline may be, which is one word.
    private void CopyEntry(byte[] keyBytes, uint collection, ref byte[] buffer, EntryCopier copied)
    {
        fixed (byte* bytes = keyBytes)
        {
            KeyRef key = Place(bytes, keyBytes.Length, collection);
            if (TryPin(key, PinTerm.Brief, out Pin pin, mostCopied: long.MaxValue, isUse: false, acceptHash: true) == PinStatus.Missing)
            {
                return; // Gone meanwhile.
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

using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Operations;

// Lists keys by their tags. Neither level has an index by tag, so each entry is visited.
internal sealed class TaggedKeys(CacheParts parts, TagReader tags)
{
    private const int KeysAtOnce = 64;

    public async IAsyncEnumerable<string> ListAsync(string tag, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        parts.ThrowIfClosed();
        var listed = new HashSet<string>(StringComparer.Ordinal);
        foreach (LocalEntry entry in parts.FirstLevel.List(entry => tag == TagNames.Everything || Carries(entry.Tags, tag)))
        {
            var wait = new LevelWait(parts.SecondLevel.NewDeadline(), cancellationToken);
            if (parts.Clock.NowMs() < entry.FreshUntil && parts.Changes.TryCatchUp(entry.Hash) && parts.FirstLevel.FindSurely(entry.Hash, entry.Key) == entry
                && (entry.Tags is null || await tags.AreCurrentAsync(entry.Tags, mayBeKnown: true, wait).ConfigureAwait(false)) && listed.Add(entry.Key))
            {
                yield return entry.Key;
            }
        }

        if (parts.SecondLevel.ListKeysAsync(cancellationToken) is not { } keys)
        {
            yield break;
        }

        IAsyncEnumerator<string> all = keys.GetAsyncEnumerator(cancellationToken);
        await using ConfiguredAsyncDisposable end = all.ConfigureAwait(false);
        for (bool isMore = true; isMore;)
        {
            var some = new List<string>();
            while (some.Count < KeysAtOnce && (isMore = await MoveNextAsync(all).ConfigureAwait(false)))
            {
                if (parts.IsCacheable(all.Current) && !listed.Contains(all.Current))
                {
                    some.Add(all.Current);
                }
            }

            foreach (string key in await CarryingAsync([.. some], tag, cancellationToken).ConfigureAwait(false))
            {
                if (listed.Add(key))
                {
                    yield return key;
                }
            }
        }
    }

    // A failure of the second level ends the list, and does not reach the caller.
    private async ValueTask<bool> MoveNextAsync(IAsyncEnumerator<string> keys)
    {
        try
        {
            return await keys.MoveNextAsync().ConfigureAwait(false);
        }
#pragma warning disable CA1031 // Any cache can be the second level, and can throw anything.
        catch (Exception fault) when (fault is not OutOfMemoryException and not OperationCanceledException)
#pragma warning restore CA1031
        {
            parts.Log.NotListed(fault);
            return false;
        }
    }

    // Returns the keys whose values in the second level carry the tag.
    private async ValueTask<List<string>> CarryingAsync(string[] keys, string tag, CancellationToken cancellationToken)
    {
        var wait = new LevelWait(parts.SecondLevel.NewDeadline(), cancellationToken);
        ulong[] hashes = [.. keys.Select(key => parts.Hasher.Hash(key))];
        var buffers = Array.ConvertAll(keys, _ => new PooledBuffer());
        var statuses = new LevelStatus[keys.Length];
        var found = new List<string>();
        try
        {
            await parts.SecondLevel.ReadManyAsync(keys, hashes, [.. buffers], statuses, wait).ConfigureAwait(false);
            for (int i = 0; i < keys.Length; i++)
            {
                if (statuses[i] == LevelStatus.Hit && TryRead(buffers[i].WrittenMemory, keys[i], out TagStamps? stamps)
                    && (tag == TagNames.Everything || Carries(stamps, tag))
                    && (stamps is null || await tags.AreCurrentAsync(stamps, mayBeKnown: false, wait).ConfigureAwait(false)))
                {
                    found.Add(keys[i]);
                }
            }
        }
        finally
        {
            Array.ForEach(buffers, buffer => buffer.Dispose());
        }

        return found;
    }

    private bool TryRead(ReadOnlyMemory<byte> envelope, string key, out TagStamps? stamps)
    {
        EnvelopeStatus status = Envelope.TryRead(envelope, key, typeId: 0, out EnvelopeHeader header, out _);
        stamps = header.StoredTags.Count == 0 ? null : tags.StampsOf(header.StoredTags);
        return status is EnvelopeStatus.Ok or EnvelopeStatus.OtherType && parts.Clock.NowMs() < parts.Clock.Read().FromUnixMs(header.FreshUntil);
    }

    private static bool Carries(TagStamps? stamps, string tag) => stamps is not null && Array.Exists(stamps.Tags, carried => carried.Name == tag);
}

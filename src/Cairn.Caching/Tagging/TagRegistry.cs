using Cairn.Keys;

namespace Cairn.Caching.Tagging;

// The tags that entries of the first level, and values that are being made, carry. An entry refers to its tags; this does not,
// so a tag that nobody carries any more is collected, and its place is taken when half of the places are such.
//
// Two names with one hash share a tag: they would be invalidated together, which is once too often and never too seldom.
internal sealed class TagRegistry(KeyHasher hasher)
{
    private const int FewestPlaces = 1_024;
    private const int SharedPlaces = 64;

    private readonly Lock _changing = new();
    private readonly Dictionary<ulong, WeakReference<Tag>> _tags = [];
    private readonly TagStamps?[] _shared = new TagStamps?[SharedPlaces];
    private int _sweepAt = FewestPlaces;

    public TagChanges Changes { get; } = new();

    /// <summary>Tags that have a place, those included that nobody carries any more.</summary>
    public int Places
    {
        get
        {
            lock (_changing)
            {
                return _tags.Count;
            }
        }
    }

    public ulong HashOf(string name) => hasher.Hash(name);

    public Tag Get(string name)
    {
        ulong hash = hasher.Hash(name);
        lock (_changing)
        {
            if (_tags.TryGetValue(hash, out WeakReference<Tag>? place))
            {
                if (place.TryGetTarget(out Tag? known))
                {
                    return known;
                }

                var again = new Tag(name, hash, Changes);
                place.SetTarget(again);
                return again;
            }

            if (_tags.Count >= _sweepAt)
            {
                Sweep();
            }

            var tag = new Tag(name, hash, Changes);
            _tags.Add(hash, new WeakReference<Tag>(tag));
            return tag;
        }
    }

    /// <summary>
    /// Tags with stamps, the same object as lately for the same ones: entries with the same tags share it, which takes less memory, and
    /// what hits look at is nearer.
    /// </summary>
    public TagStamps Share(Tag[] tags, ulong[] stamps)
    {
        ulong hash = 0;
        foreach (Tag tag in tags)
        {
            hash += tag.Hash;
        }

        // Acquire and release pair with each other: what is found is seen as it was made.
        ref TagStamps? place = ref _shared[hash % SharedPlaces];
        if (Volatile.Read(ref place) is { } known && known.Tags.AsSpan().SequenceEqual(tags) && known.Stamps.AsSpan().SequenceEqual(stamps))
        {
            return known;
        }

        var made = new TagStamps(tags, stamps);
        Volatile.Write(ref place, made);
        return made;
    }

    /// <summary>Forgets the stamp of the tag with this hash, if somebody carries it.</summary>
    public void Forget(ulong hash)
    {
        Tag? tag;
        lock (_changing)
        {
            if (!_tags.TryGetValue(hash, out WeakReference<Tag>? place) || !place.TryGetTarget(out tag))
            {
                return;
            }
        }

        tag.Forget();
    }

    public void ForgetMany(int shift, ulong value)
    {
        lock (_changing)
        {
            foreach ((ulong hash, WeakReference<Tag> place) in _tags)
            {
                if ((shift == 64 || hash >> shift == value) && place.TryGetTarget(out Tag? tag))
                {
                    tag.Forget();
                }
            }
        }
    }

    private void Sweep()
    {
        foreach ((ulong hash, WeakReference<Tag> place) in _tags)
        {
            if (!place.TryGetTarget(out _))
            {
                _tags.Remove(hash);
            }
        }

        _sweepAt = Math.Max(FewestPlaces, _tags.Count * 2);
    }
}

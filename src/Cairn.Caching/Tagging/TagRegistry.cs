using Cairn.Engine;

namespace Cairn.Caching.Tagging;

// The tags of entries in the first level and of values that are being created. An entry refers to its tags, but the registry only weakly: the
// garbage collector removes a tag without entries. The registry sweeps such places when the number of places has doubled.
//
// Two names with the same hash share a tag: they are invalidated together, which removes more than requested but never less.
internal sealed class TagRegistry(KeyHasher hasher)
{
    private const int FewestPlaces = 1_024;
    private const int SharedPlaces = 64;

    private readonly Lock _changing = new();
    private readonly Dictionary<ulong, WeakReference<Tag>> _tags = [];
    private readonly TagStamps?[] _shared = new TagStamps?[SharedPlaces];
    private int _sweepAt = FewestPlaces;

    public TagChanges Changes { get; } = new();

    /// <summary>The number of tags with a place, including those that no entry carries any more.</summary>
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
    /// Returns tags with their stamps, if possible the same object as recently for the same stamps. Entries with the same tags share it, which
    /// takes less memory and keeps the data that hits read close together.
    /// </summary>
    public TagStamps Share(Tag[] tags, ulong[] stamps)
    {
        ulong hash = 0;
        foreach (Tag tag in tags)
        {
            hash += tag.Hash;
        }

        // Acquire and release pair with each other: an object that is found is completely visible.
        ref TagStamps? place = ref _shared[hash % SharedPlaces];
        if (Volatile.Read(ref place) is { } known && known.Tags.AsSpan().SequenceEqual(tags) && known.Stamps.AsSpan().SequenceEqual(stamps))
        {
            return known;
        }

        var made = new TagStamps(tags, stamps);
        Volatile.Write(ref place, made);
        return made;
    }

    /// <summary>Forgets the stamp of the tag with this hash, if an entry carries the tag.</summary>
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

using Cairn.Caching.Coherence;
using Cairn.Caching.Levels;
using Cairn.Caching.Local;
using Cairn.Caching.Serialization;
using Cairn.Caching.Tagging;

namespace Cairn.Caching.Operations;

// Reads the stamps of tags. A value carries the stamps that its tags had before it was created. It is valid as long as they have not changed.
//
// If other machines share the second level and no channel reports their changes, a stamp is used for DistributedTagLifetime. Then one caller
// reads it again. If the second level does not answer, the stamp is used for as long again, like everything in the first level.
internal sealed class TagReader(CacheParts parts)
{
    private const int FewTags = 32;

    private readonly long _lifetimeMs =
        parts.Coherence.SeesAllChanges ? long.MaxValue : Math.Max(1, (long)parts.Options.DistributedTagLifetime.TotalMilliseconds);

    /// <summary>Returns whether an entry's tags are unchanged, as far as this process knows.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public bool CompareTags(LocalEntry entry)
    {
        ulong now = parts.Tags.Changes.Now;
        if (!AreCurrent(entry.Tags!))
        {
            return false;
        }

        // Without a second level only this process changes tags. With an IDistributedCache, its channel would have to be checked for each tag.
        if (!parts.HasLevel || parts.Changes.Store is { HasFewPartitions: true })
        {
            ulong partitions = 0;
            foreach (Tag tag in entry.Tags!.Tags)
            {
                partitions |= parts.Changes.Store?.PartitionBitOf(tag.Hash) ?? 0;
            }

            // Release; pairs with the acquire in LocalHits. Concurrent writers store the same partitions, and either of two counts is correct.
            entry.TagPartitions = partitions;
            Volatile.Write(ref entry.TagsCheckedAt, now);
        }

        return true;
    }

    /// <summary>Returns whether all stamps are known and unchanged, after catching up with the changes of their tags.</summary>
    public bool AreCurrent(TagStamps stamps)
    {
        Tag[] tags = stamps.Tags;
        ulong[] expected = stamps.Stamps;
        for (int i = 0; i < tags.Length && i < expected.Length; i++)
        {
            Tag tag = tags[i];
            if (!parts.Changes.TryCatchUp(tag.Hash) || !tag.Allows(expected[i], tags) || MustReadAgain(tag))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>
    /// Returns whether this process has not invalidated the tags since, without catching up. A value that was created while the second level did not
    /// answer has a provisional stamp, even if an earlier stamp of the tag is known.
    /// </summary>
    public static bool AreAsLastKnown(TagStamps stamps)
    {
        for (int i = 0; i < stamps.Tags.Length; i++)
        {
            Tag tag = stamps.Tags[i];
            if (stamps.Stamps[i] != tag.TimesForgotten && !tag.Allows(stamps.Stamps[i], stamps.Tags))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Returns whether an entry's tags are unchanged. Reads the second level for tags whose stamps are not known.</summary>
    public async ValueTask<bool> AreCurrentAsync(TagStamps stamps, bool mayBeKnown, LevelWait wait)
    {
        if (mayBeKnown && AreCurrent(stamps))
        {
            return !stamps.HasUnknown;
        }

        for (int i = 0; i < stamps.Tags.Length; i++)
        {
            ulong stamp = stamps.Stamps[i];
            if (!Tag.IsKnown(stamp) || !(await LearnAsync(stamps.Tags[i], mayBeKnown, wait).ConfigureAwait(false)).Allows(stamp, stamps.Tags))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Returns the tags and stamps of an entry of the second level.</summary>
    public TagStamps StampsOf(EnvelopeTags stored)
    {
        var tags = new Tag[stored.Count];
        var stamps = new ulong[stored.Count];
        int i = 0;
        foreach (EnvelopeTag tag in stored)
        {
            tags[i] = parts.Tags.Get(tag.Name);
            stamps[i++] = tag.Stamp;
        }

        return parts.Tags.Share(tags, stamps);
    }

    /// <summary>Returns the stamps of all tags, each tag once, as they are before the value is created. Null if there are no tags.</summary>
    public ValueTask<TagStamps?> CaptureAsync(IEnumerable<string>? tags, IReadOnlyList<string>? topics, LevelWait wait)
    {
        var named = new List<Tag>();
        foreach (string tag in tags ?? [])
        {
            TagNames.Check(tag, nameof(tags));
            AddOnce(named, tag);
        }

        foreach (string topic in topics ?? [])
        {
            AddOnce(named, TagNames.OfTopic(topic));
        }

        return named.Count == 0 ? default : LearnAllAsync(named.Count > FewTags ? [.. named.Distinct()] : [.. named], wait);
    }

    /// <summary>Returns the stamps including tags that the factory added. An added tag must not have been invalidated since the factory began.</summary>
    public async ValueTask<TagStamps?> CaptureLateAsync(
        TagStamps? early, IReadOnlyList<string>? tags, IReadOnlyList<string>? topics, ChangeMark[] marks, LevelWait wait)
    {
        TagStamps? late = await CaptureAsync(tags, topics, wait).ConfigureAwait(false);
        if (late is null)
        {
            return early;
        }

        var all = new Dictionary<Tag, ulong>(ReferenceEqualityComparer.Instance as IEqualityComparer<Tag>);
        for (int i = 0; i < late.Tags.Length; i++)
        {
            all[late.Tags[i]] = parts.Coherence.IsUnchanged(marks, late.Tags[i].Hash) ? late.Stamps[i] : Tag.Unknown;
        }

        for (int i = 0; i < (early?.Tags.Length ?? 0); i++)
        {
            all[early!.Tags[i]] = early.Stamps[i];
        }

        return new TagStamps([.. all.Keys], [.. all.Values]);
    }

    // A search of the list is the fastest for few tags. The time for many would grow with the square of their number.
    private void AddOnce(List<Tag> tags, string name)
    {
        Tag tag = parts.Tags.Get(name);
        if (tags.Count >= FewTags || !tags.Contains(tag))
        {
            tags.Add(tag);
        }
    }

    private ValueTask<TagStamps?> LearnAllAsync(Tag[] tags, LevelWait wait)
    {
        var stamps = new ulong[tags.Length];
        for (int i = 0; i < tags.Length; i++)
        {
            ValueTask<TagState> learning = LearnAsync(tags[i], mayBeKnown: true, wait);
            if (!learning.IsCompletedSuccessfully)
            {
                return LearnRestAsync(tags, stamps, i, learning, wait);
            }

            stamps[i] = learning.Result.Stamp;
        }

        return new ValueTask<TagStamps?>(parts.Tags.Share(tags, stamps));
    }

    private async ValueTask<TagStamps?> LearnRestAsync(
        Tag[] tags, ulong[] stamps, int first, ValueTask<TagState> learning, LevelWait wait)
    {
        stamps[first] = (await learning.ConfigureAwait(false)).Stamp;
        for (int i = first + 1; i < tags.Length; i++)
        {
            stamps[i] = (await LearnAsync(tags[i], mayBeKnown: true, wait).ConfigureAwait(false)).Stamp;
        }

        return parts.Tags.Share(tags, stamps);
    }

    // Returns the tag's present state, or the provisional stamp if the second level does not answer.
    private ValueTask<TagState> LearnAsync(Tag tag, bool mayBeKnown, LevelWait wait)
    {
        if (mayBeKnown && parts.Changes.TryCatchUp(tag.Hash) && tag.State is var known && Tag.IsKnown(known.Stamp))
        {
            long readAt = tag.ReadAtMs;
            return MustReadAgain(tag) && tag.TryClaimRead(readAt, parts.Clock.NowMs()) ? LearnAgainAsync(tag, known, wait) : new ValueTask<TagState>(known);
        }

        uint timesForgotten = tag.TimesForgotten;
        ChangeMark mark = parts.Changes.Mark(tag.Hash);
        ValueTask<TagState> reading = parts.SecondLevel.ReadStampAsync(tag.Name, tag.Hash, wait);
        return reading.IsCompletedSuccessfully
            ? new ValueTask<TagState>(Learn(tag, reading.Result, timesForgotten, mark))
            : LearnLaterAsync(tag, reading, timesForgotten, mark);
    }

    private async ValueTask<TagState> LearnLaterAsync(Tag tag, ValueTask<TagState> reading, uint timesForgotten, ChangeMark mark) =>
        Learn(tag, await reading.ConfigureAwait(false), timesForgotten, mark);

    // Returns the known state if the second level does not answer, unless this process has forgotten it meanwhile.
    private async ValueTask<TagState> LearnAgainAsync(Tag tag, TagState known, LevelWait wait)
    {
        bool isDone = false;
        long claimedAt = tag.ReadAtMs;
        try
        {
            TagState state = await LearnAsync(tag, mayBeKnown: false, wait).ConfigureAwait(false);
            isDone = true;
            return !Tag.IsKnown(state.Stamp) && tag.Stamp == known.Stamp ? known : state;
        }
        finally
        {
            if (!isDone)
            {
                tag.TryClaimRead(claimedAt, claimedAt - _lifetimeMs); // The caller was cancelled: the next one reads.
            }
        }
    }

    private bool MustReadAgain(Tag tag) =>
        _lifetimeMs != long.MaxValue && Tag.IsKnown(tag.Stamp) && parts.Clock.NowMs() - tag.ReadAtMs >= _lifetimeMs;

    // The caller uses the state that was read. The tag remembers it unless the tag was changed meanwhile.
    private TagState Learn(Tag tag, TagState state, uint timesForgotten, ChangeMark mark)
    {
        if (state.Stamp == Tag.Unknown)
        {
            // The provisional stamp of the moment of the request: it is not valid if the tag was forgotten since.
            return new TagState(timesForgotten);
        }

        if (!parts.HasLevel)
        {
            // Two callers may have drawn different stamps for a tag that had none: the first one counts.
            return tag.TryLearn(state, timesForgotten, nowMs: 0) ? state : tag.State;
        }

        // The level reports a stamp that was just created as a change, although no other process has changed it; then the tag is read again.
        parts.Coherence.TryKeep(
            mark, tag.Hash, 0, (tag, state, timesForgotten, now: parts.Clock.NowMs()), static learned => learned.tag.TryLearn(learned.state, learned.timesForgotten, learned.now));
        return state;
    }
}

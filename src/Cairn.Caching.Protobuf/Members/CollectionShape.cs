using System.Runtime.InteropServices;

namespace Cairn.Caching.Protobuf.Members;

/// <summary>How a list's type gives its items and takes new ones.</summary>
internal abstract class CollectionShape<TCollection, TItem>
{
    /// <summary>The items. Nobody may change the list meanwhile.</summary>
    public abstract ReadOnlySpan<TItem> Items(TCollection collection);

    /// <summary>The list with more items: the same object, or another that has to be set.</summary>
    /// <param name="collection">What there is; null if there is none.</param>
    /// <param name="added">Nobody else's.</param>
    public abstract TCollection With(TCollection? collection, List<TItem> added);
}

internal sealed class ArrayShape<TItem> : CollectionShape<TItem[], TItem>
{
    public override ReadOnlySpan<TItem> Items(TItem[] collection) => collection;

    public override TItem[] With(TItem[]? collection, List<TItem> added)
    {
        if (collection is null or [])
        {
            return [.. added];
        }

        Copies.Take(collection.Length);
        return [.. collection, .. added];
    }
}

internal sealed class ListShape<TItem> : CollectionShape<List<TItem>, TItem>
{
    public override ReadOnlySpan<TItem> Items(List<TItem> collection) => CollectionsMarshal.AsSpan(collection);

    public override List<TItem> With(List<TItem>? collection, List<TItem> added)
    {
        if (collection is null)
        {
            return added;
        }

        collection.AddRange(added);
        return collection;
    }
}

/// <summary>An interface that a list has.</summary>
internal sealed class InterfaceShape<TCollection, TItem> : CollectionShape<TCollection, TItem>
    where TCollection : class, IEnumerable<TItem>
{
    public override ReadOnlySpan<TItem> Items(TCollection collection) => collection switch
    {
        List<TItem> list => CollectionsMarshal.AsSpan(list),
        TItem[] array => array,
        _ => collection.ToArray(),
    };

    public override TCollection With(TCollection? collection, List<TItem> added)
    {
        if (collection is ICollection<TItem> { IsReadOnly: false } and not TItem[])
        {
            foreach (TItem item in added)
            {
                ((ICollection<TItem>)collection).Add(item);
            }

            return collection;
        }

        if (collection is null)
        {
            return (TCollection)(object)added;
        }

        List<TItem> joined = [.. collection, .. added];
        Copies.Take(joined.Count);
        return (TCollection)(object)joined;
    }
}

/// <summary>A class or struct that can be made and added to.</summary>
internal sealed class AddingShape<TCollection, TItem>(Func<TCollection> create) : CollectionShape<TCollection, TItem>
    where TCollection : ICollection<TItem>
{
    public override ReadOnlySpan<TItem> Items(TCollection collection) => collection.ToArray();

    public override TCollection With(TCollection? collection, List<TItem> added)
    {
        TCollection target = collection is null ? create() : collection;
        foreach (TItem item in added)
        {
            target.Add(item);
        }

        return target;
    }
}

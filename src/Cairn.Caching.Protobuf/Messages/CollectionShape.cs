using System.Runtime.InteropServices;

namespace Cairn.Caching.Protobuf.Messages;

/// <summary>Reads the items of a list type and adds new ones.</summary>
internal abstract class CollectionShape<TCollection, TItem>
{
    /// <summary>Returns the items. The list must not change while they are used.</summary>
    public abstract ReadOnlySpan<TItem> Items(TCollection collection);

    /// <summary>Returns the list with more items: the same object, or a new one, which the caller must set.</summary>
    /// <param name="collection">The present list; null if there is none.</param>
    /// <param name="added">The new items. The callee may keep this list.</param>
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

/// <summary>The shape of a member whose type is an interface of <see cref="List{T}"/>.</summary>
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

/// <summary>The shape of a collection type that can be created and has an Add method.</summary>
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

using System.Diagnostics;

namespace Cairn.HitRate.Policies;

// A doubly linked list of key numbers. Its links are two arrays that the key itself indexes. So a key is found in its list without a lookup, and a
// list allocates nothing for an entry. A key is in a list at most once.
internal sealed class KeyList(int distinctKeys)
{
    /// <summary>No key. It is the neighbour of each end of a list, and both ends of an empty list.</summary>
    public const int None = -1;

    private readonly int[] _towardsFirst = new int[distinctKeys];
    private readonly int[] _towardsLast = new int[distinctKeys];

    public int Count { get; private set; }

    public int First { get; private set; } = None;

    public int Last { get; private set; } = None;

    /// <summary>Returns the neighbour of <paramref name="key"/> that was added after it.</summary>
    public int TowardsFirst(int key) => _towardsFirst[key];

    public void AddFirst(int key)
    {
        _towardsFirst[key] = None;
        _towardsLast[key] = First;
        if (First == None)
        {
            Last = key;
        }
        else
        {
            _towardsFirst[First] = key;
        }

        First = key;
        Count++;
    }

    public int RemoveLast()
    {
        Debug.Assert(Count > 0, "An empty list has no last key.");
        var key = Last;
        Remove(key);
        return key;
    }

    public void Remove(int key)
    {
        var newer = _towardsFirst[key];
        var older = _towardsLast[key];
        if (newer == None)
        {
            First = older;
        }
        else
        {
            _towardsLast[newer] = older;
        }

        if (older == None)
        {
            Last = newer;
        }
        else
        {
            _towardsFirst[older] = newer;
        }

        Count--;
    }
}

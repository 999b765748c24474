using System.Diagnostics;

namespace Cairn.HitRate.Policies;

// A doubly linked list of key numbers whose links are two arrays indexed by the key itself, so that a key is found in
// its list without a lookup and lists cost no allocation per entry. A key is in a list at most once.
internal sealed class KeyList(int distinctKeys)
{
    /// <summary>Stands for "no key": the neighbour of an end, and both ends of an empty list.</summary>
    public const int None = -1;

    private readonly int[] _towardsFirst = new int[distinctKeys];
    private readonly int[] _towardsLast = new int[distinctKeys];

    public int Count { get; private set; }

    public int First { get; private set; } = None;

    public int Last { get; private set; } = None;

    /// <summary>The neighbour of <paramref name="key"/> that was added after it.</summary>
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

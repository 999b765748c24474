using System.Collections;
using Cairn.Server.Connections;

namespace Cairn.Server.Resp.PubSub;

/// <summary>The channels or patterns that a client has subscribed to, in order. The time to add or remove one does not depend on their
/// number. Every name counts as the connection's memory.</summary>
internal sealed class SubscribedNames(HeldMemory memory) : IReadOnlyCollection<string>
{
    // The memory of a name beyond its characters, here and in the hub.
    private const int NameBytes = 320;

    private readonly LinkedList<string> _names = new();
    private Dictionary<string, LinkedListNode<string>>? _places;

    public int Count => _names.Count;

    /// <summary>Gets the oldest name. There must be one.</summary>
    public string First => _names.First!.Value;

    /// <summary>Adds a name. Returns false if it already exists.</summary>
    public bool Add(string name)
    {
        _places ??= new Dictionary<string, LinkedListNode<string>>(StringComparer.Ordinal);
        if (_places.ContainsKey(name))
        {
            return false;
        }

        _places.Add(name, _names.AddLast(name));
        memory.Charge(CostOf(name));
        return true;
    }

    /// <summary>Removes a name. Returns false if it does not exist.</summary>
    public bool Remove(string name)
    {
        if (_places is null || !_places.Remove(name, out LinkedListNode<string>? place))
        {
            return false;
        }

        _names.Remove(place);
        memory.Charge(-CostOf(name));
        if (_names.Count == 0)
        {
            _places = null;
        }

        return true;
    }

    public IEnumerator<string> GetEnumerator() => _names.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private static long CostOf(string name) => NameBytes + (sizeof(char) * (long)name.Length);
}

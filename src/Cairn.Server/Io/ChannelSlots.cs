// Gives channels short numbers that the kernel returns with its events. A number consists of a slot and the slot's generation. So an
// event for a channel that has been removed is not delivered to the next channel in the slot.
namespace Cairn.Server.Io;

internal sealed class ChannelSlots<T>
    where T : class
{
    private const int GenerationShift = 32;
    private const uint GenerationMask = 0xFF_FFFF;

    private T?[] _channels = new T?[16];
    private uint[] _generations = new uint[16];
    private readonly Stack<int> _free = new();
    private int _used;

    /// <summary>Adds a channel. Returns its number, below 2^56.</summary>
    public ulong Add(T channel)
    {
        if (!_free.TryPop(out int slot))
        {
            slot = _used++;
            if (slot == _channels.Length)
            {
                Array.Resize(ref _channels, 2 * slot);
                Array.Resize(ref _generations, 2 * slot);
            }
        }

        _channels[slot] = channel;
        return ((ulong)_generations[slot] << GenerationShift) | (uint)slot;
    }

    public T? Find(ulong name)
    {
        uint slot = (uint)name;
        return slot < (uint)_used && _generations[slot] == (uint)(name >> GenerationShift) ? _channels[slot] : null;
    }

    public void Remove(ulong name)
    {
        int slot = (int)(uint)name;
        _channels[slot] = null;
        _generations[slot] = (_generations[slot] + 1) & GenerationMask;
        _free.Push(slot);
    }
}

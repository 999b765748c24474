using Cairn.Engine;

namespace Cairn.Server.Resp;

// Commands on several keys that must happen at one moment hold their keys' partitions. Inside EXEC they are held already.
internal sealed partial class RespSession
{
    private PartitionHold? _hold;
    private int _holdDepth;

    /// <summary>Keeps writers off the keys among the arguments until <see cref="EndHold"/>.</summary>
    /// <returns>False, with nothing held, if a partition could not be had in time.</returns>
    public bool TryHoldKeys(scoped in RespArguments arguments, int first, int last, int step)
    {
        if (_holdDepth > 0)
        {
            _holdDepth++;
            return true;
        }

        PartitionHold hold = _hold ??= new PartitionHold(Server.Store.PartitionCount);
        hold.Clear();
        for (int i = first; i <= last; i += step)
        {
            hold.Add(Keys.PartitionOf(arguments[i]));
        }

        _holdDepth = Keys.Engine.TryHold(hold) ? 1 : 0;
        return _holdDepth == 1;
    }

    /// <summary>Lets writers in again.</summary>
    public void EndHold()
    {
        if (--_holdDepth == 0)
        {
            Keys.Engine.EndHold(_hold!);
        }
    }
}

using System.Buffers;
using System.IO.Pipelines;
using Cairn.Caching.AspNetCore.Tagging;

namespace Cairn.Caching.AspNetCore.Responses;

/// <summary>One reading of a response, into a pipe or, if there is none, a copy of its own.</summary>
internal sealed class ResponseReading(TagTable tags, PipeWriter? target)
{
    /// <summary>The response, if it was not for a pipe.</summary>
    public byte[]? Copy { get; private set; }

    /// <summary>True if there was a response.</summary>
    public bool IsDone { get; private set; }

    /// <summary>The version of what was there but does not count any more; 0 if nothing.</summary>
    public ulong VoidVersion { get; private set; }

    public void Read(ReadOnlySpan<byte> envelope, ulong version)
    {
        if (!ResponseEnvelope.TryOpen(envelope, tags, out ReadOnlySpan<byte> response))
        {
            VoidVersion = version;
            return;
        }

        IsDone = true;
        if (target is null)
        {
            Copy = response.ToArray();
        }
        else
        {
            target.Write(response);
        }
    }
}

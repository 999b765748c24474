using System.Net;

namespace Cairn.Redis.Cluster;

/// <summary>A redirection to another node of a Cluster: <c>MOVED 3999 127.0.0.1:6381</c> or <c>ASK ...</c>.</summary>
/// <param name="IsAsk">True if it applies to this one request only, because the slot is being moved.</param>
/// <param name="Slot">The slot.</param>
/// <param name="Host">The node's host; empty for the host of the node that sent the redirection.</param>
/// <param name="Port">The node's port.</param>
internal readonly record struct Redirection(bool IsAsk, int Slot, string Host, int Port)
{
    public static bool TryParse(string error, out Redirection redirection)
    {
        redirection = default;
        string[] words = error.Split(' ');
        if (words.Length < 3 || words[0] is not ("MOVED" or "ASK")
            || !int.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out int slot) || slot >= HashSlot.Count)
        {
            return false;
        }

        int colon = words[2].LastIndexOf(':');
        if (colon < 0 || !int.TryParse(words[2].AsSpan(colon + 1), NumberStyles.None, CultureInfo.InvariantCulture, out int port)
            || port is < 1 or > IPEndPoint.MaxPort)
        {
            return false;
        }

        redirection = new Redirection(words[0] == "ASK", slot, words[2][..colon], port);
        return true;
    }
}

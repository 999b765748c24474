namespace Cairn.Clients.Connections;

/// <summary>One or several requests of a protocol, with no other request between them.</summary>
internal interface IRequest
{
    /// <summary>Gets the number of replies. The call gets the last one, and the first error of the others.</summary>
    int Replies { get; }

    /// <summary>Writes the bytes. The connection takes them back if this throws.</summary>
    void WriteTo(RequestBuffer output);
}

namespace Cairn.Caching;

/// <summary>The format of an entry's serialized value. The numbers are part of what is stored and never change.</summary>
public enum CairnFormat
{
    /// <summary>The type determines the serializer. No stored entry has this number.</summary>
    Automatic = 0,

    /// <summary>Text as UTF-8, byte arrays unchanged, and simple types such as numbers and times as their bytes, little-endian.</summary>
    Raw = 1,

    /// <summary>System.Text.Json.</summary>
    Json = 2,

    /// <summary>The framework's XmlSerializer.</summary>
    Xml = 3,

    /// <summary>The framework's DataContractSerializer, as binary XML.</summary>
    Binary = 4,

    /// <summary>Protocol Buffers, by a serializer that is registered for the format.</summary>
    Protobuf = 5,

    /// <summary>A serializer of the application.</summary>
    Custom = 255,
}

namespace Cairn.Caching;

/// <summary>In which form the value of an entry is written. The numbers are part of what is stored, and never change.</summary>
public enum CairnFormat
{
    /// <summary>The serializer is chosen by the type; nothing that is stored has this number.</summary>
    Automatic = 0,

    /// <summary>Text as UTF-8, bytes as they are, and numbers, times and the like in their bytes, little-endian.</summary>
    Raw = 1,

    /// <summary>System.Text.Json.</summary>
    Json = 2,

    /// <summary>The framework's XmlSerializer.</summary>
    Xml = 3,

    /// <summary>The framework's DataContractSerializer, as binary XML.</summary>
    Binary = 4,

    /// <summary>Protocol buffers, by a serializer that is registered for it.</summary>
    Protobuf = 5,

    /// <summary>A serializer of the application.</summary>
    Custom = 255,
}

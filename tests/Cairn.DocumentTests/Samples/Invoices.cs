using System.Runtime.Serialization;
using Cairn.Caching;

namespace Cairn.DocumentTests.Samples.ProtobufReference
{
    [DataContract]
    [CairnSerializer(CairnFormat.Protobuf, AlsoReads = [CairnFormat.Json])]
    public sealed class Invoice
    {
        [DataMember(Order = 1)]
        public int Number { get; set; }
    }
}

namespace Cairn.DocumentTests.Samples.SerializerReference
{
    [DataContract]
    [CairnSerializer(CairnFormat.Binary, AlsoReads = [CairnFormat.Json])]
    public sealed class Invoice
    {
        [DataMember]
        public int Number { get; set; }
    }
}
